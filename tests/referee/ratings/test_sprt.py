"""The sequential test against pairs computed by hand."""

from __future__ import annotations

import math

import pytest

from referee.ratings.sprt import Sprt, evaluate_points
from referee.tournament.formats.sprt import counted_pairs, verdict
from referee.tournament.match import TournamentGame

TEST = Sprt(0, 50, 0.05, 0.05)


def played(*points: float | None) -> list[TournamentGame]:
    """Games of two seats in pairs with swapped sides, by the points of seat 0; None is a void game."""
    return [
        TournamentGame(
            number + 1,
            1,
            number // 2 + 1,
            number % 2,
            1 - number % 2,
            "void" if point is None else "done",
            point if point is None or number % 2 == 0 else 1 - point,
            number + 1,
        )
        for number, point in enumerate(points)
    ]


def test_the_likelihood_ratio_of_one_pair_by_hand() -> None:
    verdict = evaluate_points(Sprt(0, 100, 0.05, 0.05), [2.0])
    mean = (0.25 * (0.25 + 0.5 + 0.75) + 1.25) / 2.25
    variance = sum(0.25 * (part - mean) ** 2 for part in (0, 0.25, 0.5, 0.75)) + 1.25 * (1 - mean) ** 2
    better = 1 / (1 + 10 ** (-100 / 400))
    assert verdict.llr == pytest.approx((better - 0.5) * (2 * mean - 0.5 - better) / (2 * variance / 2.25))
    assert (verdict.state, verdict.pairs) == ("continue", 1)
    assert verdict.upper == -verdict.lower == pytest.approx(math.log(0.95 / 0.05))


def test_it_decides_both_ways_and_waits_in_between() -> None:
    assert verdict(TEST, played(*[1.0] * 60)).state == "H1"
    assert verdict(TEST, played(*[0.0] * 60)).state == "H0"
    assert verdict(TEST, played(1.0, 1.0)).state == "continue"
    even = played(*[1.0, 0.0] * 200)
    found = verdict(TEST, even)
    assert (found.state, found.pentanomial) == ("H0", (0, 0, found.pairs, 0, 0))
    assert verdict(TEST, even[: 2 * found.pairs - 1]).state == "continue"


def test_the_first_decision_stands_whatever_follows() -> None:
    wins = [1.0] * 60
    decided = verdict(TEST, played(*wins))
    assert decided.pairs < 30
    assert verdict(TEST, played(*wins, *[0.0] * 400)) == decided


def test_complete_pairs_count_only() -> None:
    assert counted_pairs(played(1.0, 1.0, 0.5)) == ([2.0], 0)
    assert counted_pairs(played(1.0, None)) == ([], 0)
    assert counted_pairs(played(1.0, 0.5), seat=1) == ([0.5], 0)
    assert verdict(TEST, []).llr == 0
