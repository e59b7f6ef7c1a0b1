"""Round robin and gauntlet: all games are known in advance. Each cycle is a complete table.

Results never change the plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.tournaments.match import NextStep, PlanAfter, PlannedMatch, Seed, TournamentGame, finish
from referee.ratings.pairings import Format, pairings

PLAN_AFTER = PlanAfter.ALL_OVER


def plan(format: Format, games: int, seeds: Sequence[Seed]) -> Iterator[PlannedMatch]:
    """Yield every match, `games` per pairing: a pair of games per cycle, and a single last game if `games` is odd."""
    tables = pairings(len(seeds), format)
    rounds = max((number for number, _, _ in tables), default=0)
    for cycle in range((games + 1) // 2):
        is_single = 2 * cycle + 1 == games
        for number, one, two in tables:
            first, second = (two, one) if is_single and cycle % 2 else (one, two)
            yield PlannedMatch(cycle * rounds + number, first, second, cycle, 1 if is_single else 2)


def step(format: Format, games: int, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> NextStep:
    """Plan the matches that are missing: all of them at the start, new cycles after an extension."""
    known = {game.match for game in played}
    gone = {seed.number for seed in seeds if seed.is_withdrawn}
    fresh = [
        match
        for match in plan(format, games, seeds)
        if not {match.first, match.second} & gone
        and (match.round, min(match.first, match.second), max(match.first, match.second)) not in known
    ]
    return NextStep(tuple(fresh)) if fresh else finish(played)
