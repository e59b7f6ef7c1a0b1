"""The referee's own lateness, as the kernel counts it."""

from __future__ import annotations

import os


class LagMeter:
    """How long this thread was runnable but did not run, from the kernel's own books (nanoseconds)."""

    def __init__(self) -> None:
        try:
            self._fd = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._fd = -1

    def read(self) -> int:
        """The count so far; 0 always where the kernel keeps none."""
        if self._fd < 0:
            return 0
        return int(os.pread(self._fd, 64, 0).split(b" ", 2)[1])

    def close(self) -> None:
        """Give its descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
