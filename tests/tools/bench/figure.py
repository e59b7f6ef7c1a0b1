"""One measured figure beside the baseline measured in the same run, and how to time things on a noisy machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """`value` in `unit`; `ratio` compares it with `baseline`, which was measured in the same run."""

    section: str
    name: str
    value: float
    unit: str
    baseline: str = ""
    baseline_value: float = 0.0
    goal: str = ""

    @property
    def ratio(self) -> float | None:
        """value / baseline, None without one."""
        return self.value / self.baseline_value if self.baseline_value else None


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs in wall seconds: noise only ever adds."""
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return min(found)
