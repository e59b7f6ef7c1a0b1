"""Results of the opening explorer."""

from __future__ import annotations

from typing import Literal

from arena.api.schemas.archive import ArchiveItem
from arena.api.schemas.word import Out


class PlayedFigures(Out):
    """Results of games. `other` counts games without a known result; `score` is the share of points of the side to
    move.

    `rating` is the mean present mu of rated players; `performance` is the rating that such results against such
    opponents imply. `last` is the latest day, `best` the game of the strongest players.
    """

    games: int
    first: int
    draw: int
    second: int
    other: int
    score: float | None
    rating: float | None
    performance: float | None
    last: str
    best: ArchiveItem | None


class PlayedMoveItem(PlayedFigures):
    """A move in the requested position. `same` are other moves that lead to the same position."""

    move: str
    shown: str
    same: list[str]


class ExplorerResponse(PlayedFigures):
    """A position, up to symmetry, and the moves played in it, most frequent first.

    A game counts once per position and once per move.
    """

    family: str
    variant: str
    position: str
    side: Literal["first", "second"]
    pool: str
    moves: list[PlayedMoveItem]
