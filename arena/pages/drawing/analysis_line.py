"""Scenes of lines that visitors try on the analysis board, cached so that a longer line extends a shorter one."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from cachetools import LRUCache

from arena.pages.drawing.scene import Scene, Scenes
from referee.rules.rules import Ruleset

_MAX_LINES = 500
"""Maximum of cached lines; lines with a common beginning share its scenes."""


class AnalysisLines:
    """The cached lines of a server process. Thread-safe."""

    def __init__(self) -> None:
        self._kept: LRUCache[tuple[object, ...], Scenes] = LRUCache(_MAX_LINES)
        self._lock = threading.Lock()

    def scenes(self, ruleset: Ruleset, start: str, moves: Sequence[str]) -> list[Scene]:
        """Return the scenes of a line of legal moves in canonical notation."""
        game = (ruleset.rules.family, ruleset.variant.name, *sorted(ruleset.overrides.items()), start)
        with self._lock:
            known = next(
                (end for end in (len(moves), len(moves) - 1) if end > 0 and (game, *moves[:end]) in self._kept), 0
            )
            found = self._kept[game, *moves[:known]].branch() if known else Scenes(ruleset, start)
            found.extend(moves)
            self._kept[game, *moves] = found
            return list(found.items)
