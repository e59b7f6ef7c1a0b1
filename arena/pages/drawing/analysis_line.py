"""Cached scenes of the lines of moves that visitors try on the analysis board. A longer line extends a shorter one.

Anyone can send lines, so the cache is bounded by scenes rather than by lines: a long line counts for more.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from cachetools import LRUCache

from arena.pages.drawing.scene import Scene, Scenes
from referee.rules.rules import Ruleset

MAX_SCENES = 10_000
"""Maximum of cached scenes of all lines together, at about 5 KB each."""


class AnalysisLines:
    """The cached lines of a server process. Thread-safe."""

    def __init__(self, max_scenes: int = MAX_SCENES) -> None:
        self._kept: LRUCache[tuple[object, ...], Scenes] = LRUCache(max_scenes, lambda scenes: len(scenes.items))
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Number of cached scenes."""
        return int(self._kept.currsize)

    def scenes(self, ruleset: Ruleset, start: str, moves: Sequence[str]) -> list[Scene]:
        """Return the scenes of a line of legal moves in canonical notation."""
        game = (ruleset.rules.family, ruleset.variant.name, *sorted(ruleset.overrides.items()), start)
        line = (*game, *moves)
        with self._lock:
            if kept := self._kept.get(line):
                return list(kept.items)
            # Take the line out while it is extended: its positions share a history, which one thread at a time may use.
            found = self._kept.pop(line[:-1], None) if moves else None
        # Extend it without the lock, so that other requests do not wait for a long line.
        found = found or Scenes(ruleset, start)
        found.extend(moves)
        with self._lock:
            if len(found.items) <= self._kept.maxsize:
                self._kept[line] = found
        return list(found.items)
