"""Match of two bots that ends as soon as a sequential test (SPRT) is decided, or its games are used up.

The test takes pairs in the order of their completion. Its first decision is final, whatever the results of the open
games.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.tournaments.match import NextStep, PlanAfter, PlannedMatch, Seed, TournamentGame, finish
from referee.ratings.sprt import Sprt, SprtVerdict, evaluate_points, history

PLAN_AFTER = PlanAfter.EACH_RESULT


def completed_pairs(played: Sequence[TournamentGame], seat: int = 0) -> list[float]:
    """Return the points of `seat` in every completed pair, in the order of completion."""
    pairs: dict[int, list[TournamentGame]] = {}
    for game in played:
        if game.state == "done":
            pairs.setdefault(game.pair, []).append(game)
    whole = [games for games in pairs.values() if len(games) == 2]
    whole.sort(key=lambda games: max(game.order for game in games))
    return [sum(game.points_of(seat) for game in games) for games in whole]


def verdict(test: Sprt, played: Sequence[TournamentGame]) -> SprtVerdict:
    """Return the state of the test of seat 0 against seat 1, or its first decision."""
    return evaluate_points(test, completed_pairs(played))


def ratios(test: Sprt, played: Sequence[TournamentGame]) -> tuple[float, ...]:
    """Return the log-likelihood ratio before the first pair and after each, up to the first decision."""
    return tuple(found.llr for found in history(test, completed_pairs(played)))


def step(test: Sprt, total: int, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int) -> NextStep:
    """Plan pairs until `ahead` are open, the test is decided, or `total` games are planned."""
    test_state = verdict(test, played)
    if test_state.state != "continue":
        is_open = any(game.is_open for game in played)
        return NextStep(
            is_finished=not is_open, calls_off=is_open, reason=f"{test_state.state} after {test_state.pairs} pairs"
        )
    pairs = len({game.pair for game in played})
    if any(seed.is_withdrawn for seed in seeds):
        return finish(played, "a bot was withdrawn")
    waiting = len({game.pair for game in played if game.is_open})
    room = min(ahead - waiting, total // 2 - pairs)
    if room > 0:
        return NextStep(tuple(PlannedMatch(1, 0, 1, pairs + number) for number in range(room)))
    return NextStep() if waiting else finish(played, "undecided: all games played")
