"""A ply of a person's game as the database keeps it: its move and its numbers, then a mark if it offered a draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from referee.game.record import Ply
from referee.rules.core import SIDES

_DRAW = "draw"
"""Mark after a ply with which a draw was offered."""


def read_ply(kept: Sequence[Any]) -> tuple[str, Ply]:
    """Decode a stored move and its `Ply`."""
    return str(kept[0]), Ply(*kept[1])


def write_ply(move: str, ply: Ply, *, offers_draw: bool = False) -> list[Any]:
    """Encode a move and its `Ply`, followed by a draw offer if there is one."""
    kept = [ply.ms, ply.charged_ms, ply.lag_ms, ply.score, ply.depth, ply.nodes, ply.book, ply.pv]
    return [move, kept, _DRAW] if offers_draw else [move, kept]


def offers_draw(kept: Sequence[Any]) -> bool:
    """Return whether a draw was offered with a stored ply."""
    return kept[2:] == [_DRAW]


def is_draw_offered(plies: Sequence[Any], side: str) -> bool:
    """Return whether the bot offered a draw with the last ply; False before the first move of the person on `side`."""
    return len(plies) > 1 and len(plies) % 2 == SIDES.index(side) and offers_draw(plies[-1])


def last_own_ply(plies: Sequence[Any], side: str) -> int | None:
    """Return the index of the last ply of the person on `side`; None before their first move."""
    return max(range(SIDES.index(side), len(plies), 2), default=None)
