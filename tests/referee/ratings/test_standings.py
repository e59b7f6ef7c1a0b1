"""Standings, crosstables, ratings and SPRT against small games computed by hand and by closed forms."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from referee.game.record import GameRecord
from referee.ratings.sprt import RunningTest, Sprt, evaluate_points, read_sprt
from referee.ratings.standings import crosstable, standings, terminations
from referee.ratings.trueskill import BETA, TrueSkillRating, fold, leaderboard, update
from referee.rules.core import Kind, Termination
from tests.referee.conftest import a_record

DRAWS = 0.02
"""How likely a draw is between equals."""


def results(*lines: str) -> list[GameRecord]:
    """Records from lines such as `a b 1-0`."""
    winners = {"1-0": "first", "0-1": "second", "=": "draw"}
    found = []
    for number, line in enumerate(lines):
        first, second, result = line.split()
        found.append(
            a_record(
                id=f"{number:016x}",
                first=first,
                second=second,
                winner=winners[result],
                sequence=number + 1,
                pair=number // 2 + 1,
            )
        )
    return found


def test_standings_by_hand() -> None:
    records = results("a b 1-0", "b c =", "c a 0-1", "b a =", "c b 1-0", "a c 1-0")
    table = standings(records, ["c", "b", "a"])
    assert [(line.name, line.points, line.games) for line in table] == [("a", 3.5, 4), ("c", 1.5, 4), ("b", 1.0, 4)]
    a = table[0]
    assert (a.wins, a.draws, a.losses, a.score) == (3, 1, 0, 0.875)
    assert a.sonneborn_berger == 1.5 * 1.0 + 2 * 1.5


def test_between_equal_points_whom_one_beat_decides_and_then_the_wins() -> None:
    records = results("a c =", "a d =", "b d 1-0", "b c 0-1", "d c 1-0")
    table = standings(records, ["a", "b", "c", "d"])
    assert [(line.rank, line.name, line.points, line.sonneborn_berger, line.wins) for line in table] == [
        (1, "d", 1.5, 2.0, 1),
        (2, "c", 1.5, 1.5, 1),
        (3, "b", 1.0, 1.5, 1),
        (4, "a", 1.0, 1.5, 0),
    ]
    assert [row["name"] for row in crosstable(records, ["a", "b", "c", "d"])] == ["d", "c", "b", "a"]


def test_where_nothing_decides_the_order_of_the_names_does() -> None:
    drawn = standings(results("x y ="), ["y", "z", "x"])
    assert [(line.rank, line.name) for line in drawn] == [(1, "y"), (2, "x"), (3, "z")]
    assert [(line.rank, line.name, line.score) for line in standings([], ["y", "x"])] == [(1, "y", 0), (2, "x", 0)]


def test_a_line_as_plain_data() -> None:
    lost = [replace(record, kind=Kind.FORFEIT, termination=Termination.TIME) for record in results("b a 0-1")]
    table = standings([*lost, *results("a b 1-0", "b a =")], ["a", "b"])
    assert [line.as_json() for line in table] == [
        {
            "rank": 1,
            "name": "a",
            "points": 2.5,
            "games": 3,
            "wins": 2,
            "draws": 1,
            "losses": 0,
            "sonneborn_berger": 1.25,
            "forfeits": 0,
            "score": 0.8333,
        },
        {
            "rank": 2,
            "name": "b",
            "points": 0.5,
            "games": 3,
            "wins": 0,
            "draws": 1,
            "losses": 2,
            "sonneborn_berger": 1.25,
            "forfeits": 1,
            "score": 0.1667,
        },
    ]


def test_a_crosstable_by_hand() -> None:
    rows = crosstable(results("a b 1-0", "b a =", "c b 1-0"), ["a", "b", "c"])
    assert [(row["name"], row["points"]) for row in rows] == [("a", 1.5), ("c", 1), ("b", 0.5)]
    assert rows[0]["cells"] == [
        None,
        {"points": 0, "games": 0, "results": ""},
        {"points": 1.5, "games": 2, "results": "WD"},
    ]


def test_a_forfeit_is_counted_for_whoever_lost_by_it() -> None:
    records = results("a b 1-0", "b a 1-0", "a b 1-0", "a b =")
    lost = [replace(record, kind=Kind.FORFEIT, termination=Termination.TIME) for record in records[1:3]]
    neither = replace(records[3], kind=Kind.FORFEIT)
    table = {line.name: line.forfeits for line in standings([records[0], *lost, neither], ["a", "b"])}
    assert table == {"a": 1, "b": 1}
    assert {line.forfeits for line in standings(records, ["a", "b"])} == {0}


def test_the_likelihood_ratio_of_one_pair_by_hand() -> None:
    verdict = evaluate_points(Sprt(0, 100, 0.05, 0.05), [2.0])
    mean = (0.25 * (0.25 + 0.5 + 0.75) + 1.25) / 2.25
    variance = sum(0.25 * (part - mean) ** 2 for part in (0, 0.25, 0.5, 0.75)) + 1.25 * (1 - mean) ** 2
    better = 1 / (1 + 10 ** (-100 / 400))
    assert verdict.llr == pytest.approx((better - 0.5) * (2 * mean - 0.5 - better) / (2 * variance / 2.25))
    assert (verdict.state, verdict.pairs) == ("continue", 1)
    assert verdict.upper == -verdict.lower == pytest.approx(math.log(0.95 / 0.05))


@pytest.mark.parametrize("text", ["elo0=5,elo1=5", "elo0=5,elo1=4", "alpha=0", "alpha=.5", "beta=0", "beta=.5"])
def test_a_test_that_tells_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected elo0 < elo1"):
        read_sprt(text)


def test_crosstable_sums_equal_standings() -> None:
    rng = random.Random(4)
    names = list("abcdef")
    records = results(
        *(f"{one} {two} {rng.choice(['1-0', '0-1', '='])}" for one in names for two in names if one != two)
    )
    points = {line.name: line.points for line in standings(records, names)}
    rows = crosstable(records, names)
    assert {row["name"]: row["points"] for row in rows} == points
    assert sum(points.values()) == len(records)
    for index, row in enumerate(rows):
        assert row["cells"][index] is None
        for other, cell in enumerate(row["cells"]):
            if cell is not None:
                mirror = rows[other]["cells"][index]
                assert cell["points"] + mirror["points"] == cell["games"] == mirror["games"]


def test_voids_count_nowhere_and_forfeits_are_named() -> None:
    void = a_record(winner=None, termination=Termination.WORKER_LOST, kind=Kind.VOID)
    lost = a_record(winner="first", termination=Termination.TIME, kind=Kind.FORFEIT)
    table = {line.name: line for line in standings([void, lost], ["one", "two"])}
    assert (table["one"].games, table["two"].forfeits, table["one"].forfeits) == (1, 1, 0)
    assert fold([void], DRAWS) == {}
    assert terminations([void, lost, lost]) == {"time": 2, "worker-lost": 1}


def normal_pdf(x: float) -> float:
    """The standard normal density."""
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def normal_cdf(x: float) -> float:
    """The standard normal distribution."""
    return math.erfc(-x / math.sqrt(2)) / 2


def normal_ppf(p: float) -> float:
    """The inverse of `normal_cdf`, by bisection."""
    low, high = -10.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if normal_cdf(middle) < p else (low, middle)
    return low


def closed_form(
    one: TrueSkillRating, two: TrueSkillRating, points: float, chance: float
) -> tuple[float, float, float, float]:
    """Two-player TrueSkill (Herbrich, Minka, Graepel 2006) with tau = 0: mu and sigma of both after a game."""
    c = math.sqrt(2 * BETA**2 + one.sigma**2 + two.sigma**2)
    eps = normal_ppf((chance + 1) / 2) * math.sqrt(2) * BETA / c
    sign = 1 if points >= 0.5 else -1
    t = sign * (one.mu - two.mu) / c
    if points == 0.5:
        width = normal_cdf(eps - abs(t)) - normal_cdf(-eps - abs(t))
        v = (normal_pdf(-eps - abs(t)) - normal_pdf(eps - abs(t))) / width * (1 if t >= 0 else -1)
        up, down = eps - abs(t), -eps - abs(t)
        w = v * v + (up * normal_pdf(up) - down * normal_pdf(down)) / width
    else:
        v = normal_pdf(t - eps) / normal_cdf(t - eps)
        w = v * (v + t - eps)
    found = []
    for rating, way in ((one, sign), (two, -sign)):
        variance = rating.sigma**2
        found += [rating.mu + way * variance / c * v, math.sqrt(variance * (1 - variance / c**2 * w))]
    return found[0], found[1], found[2], found[3]


def test_updates_agree_with_the_closed_form() -> None:
    rng = random.Random(1)
    for _ in range(300):
        one = TrueSkillRating(rng.uniform(10, 40), rng.uniform(0.8, 8.3))
        two = TrueSkillRating(rng.uniform(10, 40), rng.uniform(0.8, 8.3))
        points, chance = rng.choice([0.0, 0.5, 1.0]), rng.choice([0.02, 0.1, 0.25])
        a, b = update(one, two, points, chance)
        assert (a.mu, a.sigma, b.mu, b.sigma) == pytest.approx(closed_form(one, two, points, chance), abs=1e-5)


def test_impossible_upsets_do_not_crash() -> None:
    a, b = update(TrueSkillRating(1000, 1), TrueSkillRating(-1000, 1), 0.0, 0.1)
    assert (a.losses, b.wins) == (1, 1)


def test_a_fold_is_the_same_at_once_and_in_parts() -> None:
    records = results(*(f"{'abc'[n % 3]} {'bca'[n % 3]} {['1-0', '=', '0-1'][n % 5 % 3]}" for n in range(40)))
    assert fold(records[20:], DRAWS, fold(records[:20], DRAWS)) == fold(records, DRAWS)
    order = [line["name"] for line in leaderboard(fold(records, DRAWS))]
    table = fold(records, DRAWS)
    assert order == sorted(table, key=lambda name: -(table[name].mu - 3 * table[name].sigma))


def test_sprt_decides_both_ways_and_waits_in_between() -> None:
    test = read_sprt("elo0=0,elo1=50,alpha=.05,beta=.05")
    wins = results(*(["x y 1-0", "y x 0-1"] * 30))
    assert RunningTest(test, "x", wins).verdict.state == "H1"
    assert RunningTest(test, "y", wins).verdict.state == "H0"
    assert RunningTest(test, "x", wins[:2]).verdict.state == "continue"
    even = results(*(["x y 1-0", "y x 1-0"] * 200))
    found = RunningTest(test, "x", even).verdict
    assert (found.state, found.pentanomial) == ("H0", (0, 0, found.pairs, 0, 0))
    assert RunningTest(test, "x", even[: 2 * found.pairs - 1]).verdict.state == "continue"


def test_the_first_decision_of_a_sprt_stands_whatever_follows() -> None:
    wins, losses = results(*(["x y 1-0", "y x 0-1"] * 30)), results(*(["x y 0-1", "y x 1-0"] * 200))
    test = RunningTest(Sprt(0, 50), "x", wins)
    decided = test.verdict
    assert test.is_decided
    assert decided.pairs < 30
    for record in losses:
        test.add(record)
    assert test.verdict == decided


def test_sprt_counts_complete_pairs_only() -> None:
    records = results("x y 1-0", "y x 0-1", "x y =")
    assert RunningTest(Sprt(), "x", records).verdict.pentanomial == (0, 0, 0, 0, 1)
    void = replace(records[1], winner=None, kind=Kind.VOID, termination=Termination.WORKER_LOST)
    assert RunningTest(Sprt(), "x", [records[0], void]).verdict.pairs == 0
    assert RunningTest(Sprt(), "x", [records[0], void, records[1]]).verdict.pairs == 1
    assert RunningTest(Sprt(), "x").verdict.llr == 0


@pytest.mark.parametrize("text", ["elo0=5,elo1=0", "alpha=2", "x=1", "elo0=a", "nan", "elo0=-1e9", "elo1=nan"])
def test_bad_sprt_settings_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="--sprt"):
        read_sprt(text)
