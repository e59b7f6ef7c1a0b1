"""Rating pools: the advantage of moving first."""

from __future__ import annotations

from arena.services.arena import Arena
from arena.services.first_move_advantage import FirstMoveAdvantage


def first_move_advantage(arena: Arena, pool: str, games: int) -> FirstMoveAdvantage | None:
    """Return the first-move advantage in a pool with this number of games; None for an empty or too large one."""
    return arena.first_move_advantages.of(arena.store, pool, games)
