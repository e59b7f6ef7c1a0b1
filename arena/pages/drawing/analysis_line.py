"""The scenes of lines that people try out: every line kept for a while, and the next one begun from what it shares."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from cachetools import LRUCache

from arena.pages.drawing.scene import Scene, Scenes
from referee.rules.rules import Ruleset

_KEPT = 500
"""Lines whose scenes are kept; lines that branch off each other share them."""


class AnalysisLines:
    """The lines of a server process: `scenes` may be called from any thread."""

    def __init__(self) -> None:
        self._kept: LRUCache[tuple[object, ...], Scenes] = LRUCache(_KEPT)
        self._lock = threading.Lock()

    def scenes(self, ruleset: Ruleset, start: str, moves: Sequence[str]) -> list[Scene]:
        """The scenes of a line of legal moves in canonical text."""
        game = (ruleset.rules.family, ruleset.variant.name, *sorted(ruleset.overrides.items()), start)
        with self._lock:
            known = next(
                (end for end in (len(moves), len(moves) - 1) if end > 0 and (game, *moves[:end]) in self._kept), 0
            )
            found = self._kept[game, *moves[:known]].branch() if known else Scenes(ruleset, start)
            found.extend(moves)
            self._kept[game, *moves] = found
            return list(found.items)
