"""Counts how often each position has occurred in a game, so that `Kernel.result` can judge repetition.

Compiled searches keep digests in an array instead (`bots.search.repetition`): their inner loop cannot use Python
objects.
"""

from __future__ import annotations

from collections.abc import Iterable


class History:
    """The positions of a game so far, by their keys (see `Position.key`)."""

    __slots__ = ("_seen", "plies")

    def __init__(self, keys: Iterable[bytes] = ()) -> None:
        self._seen: dict[bytes, tuple[int, int]] = {}
        self.plies = -1
        """How many moves led to the last position; -1 before the first."""
        for key in keys:
            self.add(key)

    def if_next(self, key: bytes) -> tuple[int, int]:
        """Return what `add` would return for `key`, without adding it."""
        count, last = self._seen.get(key, (0, self.plies + 1))
        return count + 1, self.plies + 1 - last

    def add(self, key: bytes) -> tuple[int, int]:
        """Add the next position; return (occurrences, this one included; plies since the previous one, 0 = none)."""
        plies = self.plies = self.plies + 1
        count, last = self._seen.get(key, (0, plies))
        self._seen[key] = count + 1, plies
        return count + 1, plies - last
