"""Workers on which bots search slower than elsewhere."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from arena.coordinator import auditor
from arena.coordinator.auditor import SlowWorkerDetector, speeds_of
from referee.game.record import Ply
from referee.game.spec import GameSpec, PlannedGame, TimeControl
from tests.arena.field import record_of
from tests.referee.conftest import scripted
from tests.tools.bench.throttle import WITHIN, Field, simulate

BOTH = ("one", "two")


def told(watch: SlowWorkerDetector, slow: float, games: int, worker: str = "one", **speeds: float) -> str:
    """Return the message after this number of games on two workers, those on `worker` at `slow` of the speed."""
    speeds = speeds or {"ada": 100.0, "bob": 7.0}
    for _ in range(games):
        for place in BOTH:
            factor = slow if place == worker else 1.0
            problem = watch.add(place, [(bot, math.log(speed * factor)) for bot, speed in speeds.items()], BOTH)
            if problem:
                assert place == worker
                return problem
    return ""


@pytest.mark.parametrize("scatter", [0.1, 0.3])
def test_a_worker_at_three_fifths_of_the_speed_is_detected_within_two_hundred_games(scatter: float) -> None:
    for seed in range(8):
        found = simulate(Field(2, 8, scatter), 0.6, WITHIN, seed)
        assert list(found) == [0], "and no other one"


def test_with_many_bots_a_slow_worker_is_detected_as_soon() -> None:
    assert all(0 in simulate(Field(2, 40, 0.2), 0.6, WITHIN, seed) for seed in range(4))


def test_an_equally_fast_worker_is_not_detected() -> None:
    for seed in range(3):
        assert simulate(Field(2, 8, 0.3), 1.0, 2000, seed) == {}


def test_a_worker_at_the_tolerance_is_detected_with_a_chance_of_one_in_a_thousand() -> None:
    """The bound itself: every game is evidence against the worker with probability one half."""
    rng, quarantined = random.Random(1), 0
    for _ in range(300):
        watch = SlowWorkerDetector(0.25)
        told(watch, 1.0, auditor.MIN_GAMES_ELSEWHERE, ada=100.0)
        for _ in range(300):
            speed = math.log(100 * (0.7 if rng.random() < 0.5 else 0.8))
            quarantined += bool(watch.add("one", [("ada", speed)], BOTH))
    assert quarantined <= 2


def test_the_reason_contains_the_figures() -> None:
    found = told(SlowWorkerDetector(0.25), 0.6, 100)
    assert found == (
        "bots search at 60 % of their speed elsewhere (median of its last 17 games), and may not be below 75 %"
    )


@pytest.mark.parametrize(
    ("slow", "tolerance", "is_noticed"), [(0.6, 0.25, True), (0.6, 0.5, False), (0.76, 0.25, False)]
)
def test_a_tolerated_slowdown_is_not_detected(slow: float, tolerance: float, is_noticed: bool) -> None:
    assert bool(told(SlowWorkerDetector(tolerance), slow, 200)) == is_noticed


def test_false_node_counts_of_one_bot_are_no_evidence() -> None:
    """The bot reports a thousandth of its nodes on that worker; its opponent is as fast as ever, with some noise."""
    watch = SlowWorkerDetector(0.25)
    for number in range(200):
        for place in BOTH:
            liar = 1.0 if place == "one" else 1000.0
            other = 100.0 * (1.05 if number % 2 else 0.95)
            assert watch.add(place, [("liar", math.log(liar)), ("ada", math.log(other))], BOTH) == ""


def test_departed_workers_are_not_compared() -> None:
    watch = SlowWorkerDetector(0.25)
    for _ in range(50):
        watch.add("gone", [("ada", math.log(100.0))], BOTH)
    for _ in range(100):
        assert watch.add("one", [("ada", math.log(50.0))], BOTH) == ""


def test_bots_that_stopped_playing_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditor, "MAX_BOTS", 2)
    watch = SlowWorkerDetector(0.25)
    for bot in ("ada", "bob", "ada", "cleo"):
        watch.add("one", [(bot, 1.0)], BOTH)
    assert list(watch._known) == ["ada", "cleo"]


def test_only_local_bots_with_a_clock_are_measured() -> None:
    spec = GameSpec("loa", "standard", scripted("ada v1"), scripted("bob v1"), time=TimeControl())
    thought = Ply(ms=15.0, nodes=3000)
    plies = [
        Ply(ms=99.0, nodes=99, book=True),
        thought,
        thought,
        thought,
        thought,
        Ply(ms=50.0),
        replace(thought, ms=4.0),
    ]
    record = replace(record_of(PlannedGame.of(spec)), plies=plies)
    (ada, ada_speed), (bob, bob_speed) = speeds_of(spec, record)
    assert "ada v1" in ada
    assert "bob v1" in bob
    assert math.exp(ada_speed) == pytest.approx(9000 / 34)
    assert math.exp(bob_speed) == pytest.approx(6000 / 30), "a move without nodes says nothing of its speed"
    (_, longer), _ = speeds_of(spec, replace(record, clock_scale=1.5))
    assert math.exp(longer) == pytest.approx(1.5 * 9000 / 34), "slower, but it had as much more time"
    handicapped = replace(spec, second=replace(spec.second, time=TimeControl("nodes", 0, 0, 500)))
    remote = replace(spec, first=replace(spec.first, place="remote"))
    assert [bot for bot, _ in speeds_of(handicapped, record)] == [ada]
    assert [bot for bot, _ in speeds_of(remote, record)] == [bob]
    assert list(speeds_of(spec, replace(record, plies=plies[:3]))) == [], "too short to say anything"
