"""Engines without clocks get what is theirs: what is learned of how late they are, and what they are told for it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bots.samples.champion import INCREMENT_SHARE, MOVES_TO_GO
from bots.sdk.clock import Clock
from protocol.capabilities import movetime_for, shares_of_game
from protocol.messages import Go
from referee.bot.seat import ANSWERS, ENOUGH, UNKNOWN_MS, Overshoot
from referee.game.spec import read_time_control
from referee.play.roster import Roster
from referee.rules.core import Termination
from tests.engines.modelled import MOVES, USUAL_MOVES, Habit, Table, match, normal, steady
from tests.referee.conftest import PATIENT, scripted


def learned(*late_ms: float, expected_ms: float = 5) -> Overshoot:
    found = Overshoot(expected_ms)
    for late in late_ms:
        found.add(100, 100 + late)
    return found


def at_worst(found: Overshoot) -> float:
    return found.at_worst_ms(is_first=False)


def test_what_is_expected_holds_until_there_are_answers() -> None:
    assert (learned().usual_ms, at_worst(learned())) == (5, 5)
    few = learned(*[2] * (ENOUGH - 1))
    assert (few.usual_ms, at_worst(few)) == (5, 5)
    assert at_worst(learned(30, 2)) == 30
    enough = learned(*[2] * ENOUGH)
    assert (enough.usual_ms, at_worst(enough)) == (2, 2)


def test_one_slow_answer_is_not_a_property_but_two_are() -> None:
    assert at_worst(learned(*[10] * 20, 300)) == 10
    assert at_worst(learned(*[10] * 20, 300, 300)) == 445
    assert at_worst(learned(300, 300, *[10] * ANSWERS)) == 10


def test_a_wide_spread_gets_more_room() -> None:
    found = learned(*range(20))
    assert (found.usual_ms, at_worst(found)) == (10, 22)


def test_an_answer_before_its_time_says_how_much_or_nothing() -> None:
    overshoot = Overshoot(5)
    for _ in range(ENOUGH):
        overshoot.add(100, 90)
    assert (overshoot.usual_ms, at_worst(overshoot)) == (0, 0)
    for _ in range(ANSWERS):
        overshoot.add(100, 74.9)
    overshoot.add(100, 130)
    overshoot.add(100, 130)
    assert at_worst(overshoot) == 30 + 20


def test_the_first_answer_of_a_process_is_kept_apart() -> None:
    found = Overshoot(5, first_ms=200)
    assert (found.at_worst_ms(is_first=True), at_worst(found)) == (200, 5)
    found.add(100, 900, is_first=True)
    assert (found.at_worst_ms(is_first=True), at_worst(found)) == (800, 5)


def test_what_was_learned_outlives_the_process_and_is_each_bots_own() -> None:
    from referee.sandbox import Sandbox

    with Roster(Sandbox("none")) as roster:
        bot, other = roster.seat([scripted("one"), scripted("other")], PATIENT)
        bot.overshoot.add(100, 150)
        roster.discard([bot, other])
        bot, other = roster.seat([scripted("one"), scripted("other")], PATIENT)
        assert at_worst(bot.overshoot) == 50
        assert at_worst(other.overshoot) == UNKNOWN_MS


CLOCKS = ("1+0.05", "2+0.1", "10+0.1", "60+0.6")


@pytest.mark.parametrize("moves", [USUAL_MOVES, MOVES], ids=["usual", "long"])
@pytest.mark.parametrize("control", CLOCKS)
@pytest.mark.parametrize(
    "habit",
    [Habit("punctual"), Habit("15", steady(15)), Habit("30", steady(30), found_ms=40), Habit("10±5", normal(10, 5))],
    ids=lambda habit: habit.name,
)
def test_engine_without_clocks_uses_most_of_the_champions_time_and_loses_none(
    habit: Habit, control: str, moves: Sequence[str]
) -> None:
    found = match(habit, read_time_control(control), games=4, moves=moves)
    assert found.lost == 0
    assert 0.6 <= found.share <= (0.95 if moves is USUAL_MOVES else 1.05)
    assert min(found.offered_ms) >= 20


@pytest.mark.parametrize(("moves", "low", "high"), [(9, 0.6, 0.95), (20, 0.6, 0.95), (60, 0.6, 0.95), (110, 0.6, 1.0)])
@pytest.mark.parametrize("control", CLOCKS)
def test_share_of_a_clock_follows_the_length_of_the_familys_games(
    control: str, moves: int, low: float, high: float
) -> None:
    """A bot that keeps its move times exactly, against the champion's plan for the same clock."""
    time, shares = read_time_control(control), shares_of_game(moves)
    left_ms, used_ms, champions_ms, champion_left_ms = time.base_ms, 0.0, 0.0, float(time.base_ms)
    for _ in range(moves):
        told_ms = movetime_for(left_ms, time.increment_ms, 0, UNKNOWN_MS, shares=shares)
        used_ms, left_ms = used_ms + told_ms, left_ms - told_ms + time.increment_ms
        clock = Clock(Go(int(champion_left_ms), 1, time.increment_ms, 0), 0)
        clock.plan(MOVES_TO_GO, INCREMENT_SHARE)
        budget_ms = clock.budget_ms() or 0.0
        champions_ms, champion_left_ms = champions_ms + budget_ms, champion_left_ms - budget_ms + time.increment_ms
    assert low <= used_ms / champions_ms <= high


@pytest.mark.parametrize("control", ["0.5/move", "1/move", "10/move"])
@pytest.mark.parametrize(
    "habit",
    [Habit("15", steady(15)), Habit("60", steady(60), found_ms=60), Habit("30±5", normal(30, 5), found_ms=40)],
    ids=lambda habit: habit.name,
)
def test_a_time_for_every_move_leaves_room_too(habit: Habit, control: str) -> None:
    time = read_time_control(control)
    found = match(habit, time, games=4)
    assert found.lost == 0
    assert 0.6 * time.base_ms <= min(found.offered_ms)
    assert max(found.offered_ms) < time.base_ms


def test_who_lost_on_time_is_told_less_in_the_next_game() -> None:
    table, time = Table(Habit("never checked", steady(33)), Habit("other")), read_time_control("0.5/move")
    ends = [table.play(time).termination for _ in range(5)]
    assert ends[0] is Termination.TIME
    assert Termination.TIME not in ends[2:]
    assert table.bots[0].offered_ms[-1] == 467


def test_what_a_slow_start_costs_is_asked_of_the_first_answer_alone() -> None:
    habit = Habit("slow starter", steady(10), first_ms=120, found_ms=20, found_first_ms=140)
    table, time = Table(habit, Habit("other")), read_time_control("0.5/move")
    assert table.play(time).termination is not Termination.TIME
    assert table.bots[0].offered_ms[:2] == [360, 480]


def test_a_bot_that_answers_before_its_time_is_told_all_of_it() -> None:
    table = Table(Habit("early", lambda rng: -25.0), Habit("other"))
    table.play(read_time_control("1/move"))
    assert (table.bots[0].offered_ms[0], table.bots[0].offered_ms[-1]) == (995, 1000)
