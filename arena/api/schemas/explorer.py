"""What was played in a position."""

from __future__ import annotations

from typing import Literal

from arena.api.schemas.archive import ArchiveItem
from arena.api.schemas.word import Out


class PlayedFigures(Out):
    """How games went. `other` have no known result; `score` is the share of points of who was to move; `rating` the
    mean strength (mu, today) of those who have one, `performance` the strength that such results against such opponents
    speak of; `last` the latest day, `best` the game of the strongest players.
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
    """A move as it stands in the position asked for; `same` are others that lead to the same position."""

    move: str
    shown: str
    same: list[str]


class ExplorerResponse(PlayedFigures):
    """A position, however the board was turned in the games: what was played in it, the most frequent move first.

    A game counts once for a position, and once for each move.
    """

    family: str
    variant: str
    position: str
    side: Literal["first", "second"]
    pool: str
    moves: list[PlayedMoveItem]
