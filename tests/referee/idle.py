"""A helper that does nothing: it writes its words to standard error, then waits for its end."""

from __future__ import annotations

import sys
import time


def main() -> None:
    """Wait."""
    sys.stderr.write(" ".join(sys.argv) + "\n")
    sys.stderr.flush()
    while True:
        time.sleep(0.1)
