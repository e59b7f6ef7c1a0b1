"""The processor cores that the operating system lends to this process."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Return how many cores this process may use: `taskset`, cpusets and containers may leave fewer than there are."""
    return len(os.sched_getaffinity(0))
