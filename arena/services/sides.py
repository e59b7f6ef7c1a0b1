"""What moving first is worth in a pool of ratings: fitted together with the strengths of all who played there."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from referee.ratings.bradley_terry import fit

if TYPE_CHECKING:
    from arena.services.arena import Arena

MOST_GAMES, MOST_VERSIONS = 50_000, 200
"""Larger pools are not fitted for a page: that takes longer than it may."""
_POINTS = {"first": 1.0, "second": 0.0}


@dataclass(frozen=True, slots=True)
class Advantage:
    """Of moving first, in Elo; `error` is half of its 95 % interval, `is_sure` says that it leaves out 0."""

    elo: float
    error: float
    is_sure: bool


def advantage(arena: Arena, pool: str, games: int) -> Advantage | None:
    """That of a pool of so many games; None of an empty or a large one."""
    if not 0 < games <= MOST_GAMES:
        return None
    counts = arena.store.rating_history.counts(pool)
    if len({key for one in counts for key in (one.first_id, one.second_id)}) > MOST_VERSIONS:
        return None
    fitted = fit(
        itertools.chain.from_iterable(
            itertools.repeat((str(one.first_id), str(one.second_id), _POINTS.get(one.winner, 0.5)), one.games)
            for one in counts
        ),
        with_advantage=True,
    )
    return Advantage(fitted.advantage, fitted.advantage_interval, fitted.has_advantage)
