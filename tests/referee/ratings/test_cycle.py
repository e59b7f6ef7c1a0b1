"""Cycles: planted ones are found and named, others are not; what they add predicts games that were not seen."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from referee.ratings.bradley_terry import StrengthFit, fit
from referee.ratings.cycle import CYCLE_SIGNIFICANCE, CycleFindings, analyse_cycles, lottery
from referee.ratings.meetings import expectation, meetings
from tests.referee.ratings import simulated
from tests.tools.bench.ratings import held_out

BOTS = 6


def tournament(seed: int, edge: float, games: int = 40) -> tuple[StrengthFit, CycleFindings]:
    rng = np.random.default_rng(seed)
    strengths = rng.normal(0, 0.6, BOTS)
    if edge:
        strengths[:3] = strengths[:3].mean()
    results = simulated.play(strengths, simulated.trio(BOTS, edge), games, rng)
    fitted = fit(results, with_advantage=True)
    findings = analyse_cycles(results, fitted, seed)
    assert findings is not None
    return fitted, findings


def test_planted_cycles_are_found_and_named() -> None:
    findings = [tournament(seed, 1.5)[1] for seed in range(6)]
    assert all(finding.is_cyclic for finding in findings)
    turns = {("bot 0", "bot 1", "bot 2"), ("bot 1", "bot 2", "bot 0"), ("bot 2", "bot 0", "bot 1")}
    assert all(finding.cycles[0] in turns for finding in findings)
    assert all(
        any(
            (surprise.bot, surprise.rival) in set(itertools.pairwise((*turn, turn[0])))
            for turn in turns
            for surprise in finding.surprises
        )
        for finding in findings
    )


def test_where_nothing_is_planted_nothing_is_found() -> None:
    found = [tournament(seed, 0.0, 10)[1] for seed in range(40)]
    assert sum(one.is_cyclic for one in found) <= 3
    assert all((one.chance <= CYCLE_SIGNIFICANCE) == one.is_cyclic for one in found)
    assert all((one.cycles, one.shares) == ((), ()) for one in found if not one.is_cyclic)
    # The chances are those of a fair test: about as many above a half as below it, were there not two statistics.
    assert 8 <= sum(one.chance < 0.5 for one in found) <= 28


def test_the_same_seed_finds_the_same() -> None:
    assert tournament(3, 1.5)[1] == tournament(3, 1.5)[1]


def test_too_few_bots_have_no_cycle() -> None:
    results = [("a", "b", 1.0), ("b", "a", 0.0)]
    assert analyse_cycles(results, fit(results)) is None


def test_who_never_met_is_no_surprise() -> None:
    results = [(one, two, 1.0) for one, two in itertools.pairwise("abcdef")] * 3
    found = analyse_cycles(results, fit(results))
    assert found is not None
    assert not found.is_cyclic
    assert found.surprises == ()


def test_where_each_beats_all_below_it_nothing_is_a_surprise() -> None:
    results = [("a", "b", 1.0), ("b", "a", 0.0), ("a", "c", 1.0), ("c", "a", 0.0), ("b", "c", 1.0), ("c", "b", 0.0)]
    found = analyse_cycles(results, fit(results, with_advantage=True))
    assert found is not None
    assert found.surprises == ()


@pytest.mark.parametrize("edge", [1.5, 0.0])
def test_unseen_games_are_foretold_better_where_there_are_cycles_and_not_worse_elsewhere(edge: float) -> None:
    gains = []
    for seed in range(6):
        rng = np.random.default_rng(100 + seed)
        matrix = simulated.styles(8, edge, rng)
        gains.append(held_out(rng.normal(0, 0.6, 8), matrix, 20, seed))
    plain, cyclic = np.mean(gains, axis=0)
    assert cyclic < plain - 0.01 if edge else cyclic <= plain + 0.0005


def test_the_lottery_of_scissors_and_stones() -> None:
    # With edges a, b, c round the circle each bot has the weight of the edge it has no part in.
    edges = 0.1, 0.2, 0.3
    expected = np.full((4, 4), 0.5)
    for (one, two), edge in zip(((0, 1), (1, 2), (2, 0)), edges, strict=True):
        expected[one, two], expected[two, one] = 0.5 + edge, 0.5 - edge
    expected[3, :3], expected[:3, 3] = 0.4, 0.6
    assert lottery(expected) == pytest.approx([2 / 6, 3 / 6, 1 / 6, 0], abs=0.005)


def test_without_a_cycle_the_lottery_is_the_best_bot() -> None:
    strengths = np.array([0.6, 0.4, 0.0])
    assert lottery(1 / (1 + np.exp(strengths[None, :] - strengths[:, None])))[0] == pytest.approx(1, abs=0.02)


def test_expected_points_are_those_played_in_sum() -> None:
    rng = np.random.default_rng(5)
    results = simulated.play(rng.normal(0, 1, 5), simulated.nothing(5), 8, rng)
    fitted = fit(results, with_advantage=True)
    met = meetings(results, [strength.name for strength in fitted.strengths])
    assert met.games.sum() == 2 * len(results)
    expected = met.counts.sum(axis=1) * expectation(met, fitted).points
    assert expected.sum() == pytest.approx(sum(points for _, _, points in results), abs=1e-3)
    assert (met.points + met.points.T == met.games).all()
