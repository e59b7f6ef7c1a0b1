"""Specs: content-hashed identity, JSON, time controls, clocks, adjudication rules."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.game.adjudication import Adjudicator, answered_for, read_draw_rule, read_resign_rule
from referee.game.clock import GameClock
from referee.game.spec import (
    Adjudication,
    BotSpec,
    GameSpec,
    PlannedGame,
    TimeControl,
    read_time_control,
    read_time_controls,
    spec_from_json,
)
from referee.rules.core import ParseError, Termination

SPEC = GameSpec("loa", "standard", BotSpec("a", ("./a",)), BotSpec("b", ("./b", "-x"), options=(("Hash", "16"),)))


def id_of(spec: GameSpec) -> str:
    """The id of that game when it is planned."""
    return PlannedGame.of(spec).id


def test_same_spec_same_id_and_any_change_another() -> None:
    assert id_of(SPEC) == id_of(replace(SPEC)) == "b8707d3f7973d5a6", "ids are kept in databases and run folders"
    changes = [
        {"sequence": 1},
        {"opening": ("b1b3",)},
        {"options": {"simultaneous": "mover"}},
        {"time": TimeControl("depth", 0, 0, 2)},
        {"first": BotSpec("a", ("./other",))},
        {"pondering": "pinned"},
        {"pondering": "allowed"},
    ]
    assert len({id_of(SPEC), *(id_of(replace(SPEC, **change)) for change in changes)}) == 1 + len(changes)


def test_a_spec_survives_json() -> None:
    again = spec_from_json(json.loads(json.dumps(SPEC.as_json())))
    assert again == SPEC
    assert id_of(again) == id_of(SPEC)
    with pytest.raises(ValueError, match="unknown keys"):
        spec_from_json({**SPEC.as_json(), "colour": "red"})


def test_pondering_is_told_where_it_is_not_as_usual() -> None:
    assert "pondering" not in SPEC.as_json()
    free = replace(SPEC, pondering="allowed")
    assert spec_from_json(json.loads(json.dumps(free.as_json()))) == free


def test_a_time_of_its_own_is_told_and_kept_and_no_key_without_one() -> None:
    assert "time" not in SPEC.as_json()["first"], "ids of games without odds are those of before"
    odds = replace(SPEC, second=replace(SPEC.second, time=TimeControl("clock", 1000, 10)))
    again = spec_from_json(json.loads(json.dumps(odds.as_json())))
    assert again == odds
    assert id_of(again) == id_of(odds) != id_of(SPEC)
    assert odds.controls == (SPEC.time, TimeControl("clock", 1000, 10))
    assert odds.time_text == "10+0.1 v 1+0.01"
    assert read_time_controls(odds.time_text) == odds.controls
    same = replace(SPEC, first=replace(SPEC.first, time=SPEC.time))
    assert (same.time_text, read_time_controls(same.time_text)) == ("10+0.1", (SPEC.time, SPEC.time))


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("10+0.1", TimeControl("clock", 10_000, 100)),
        ("60", TimeControl("clock", 60_000, 0)),
        ("40/60", TimeControl("clock", 60_000, 0, moves=40)),
        ("40/60+0.5", TimeControl("clock", 60_000, 500, moves=40)),
        ("1/move", TimeControl("movetime", 1000, 0)),
        ("0.25/move", TimeControl("movetime", 250, 0)),
        ("depth:4", TimeControl("depth", 0, 0, 4)),
        ("nodes:10000", TimeControl("nodes", 0, 0, 10_000)),
    ],
)
def test_time_controls_are_read_and_written(text: str, control: TimeControl) -> None:
    assert read_time_control(text) == control
    assert read_time_control(str(control)) == control


def test_periods_of_moves_are_told_and_kept_and_no_key_without_them() -> None:
    assert "moves" not in SPEC.as_json()["time"], "ids of other games are those of before"
    both = replace(SPEC, time=read_time_control("40/60"), second=replace(SPEC.second, time=read_time_control("20/5+1")))
    again = spec_from_json(json.loads(json.dumps(both.as_json())))
    assert again == both
    assert id_of(again) == id_of(both) != id_of(replace(both, time=read_time_control("60")))
    assert both.time_text == "40/60+0 v 20/5+1"
    assert read_time_controls(both.time_text) == both.controls


@pytest.mark.parametrize(("text", "move_ms"), [("40/60", 1500), ("20/60", 3000), ("80/60", 1500), ("10/1+1", 1100)])
def test_the_time_for_a_move_is_that_of_a_period(text: str, move_ms: float) -> None:
    assert read_time_control(text).move_ms == move_ms


@given(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(
            ["0/60", "40/", "40/0", "1000/5", "40/60/move", "0", "0+1", "1/", "nodes:0", "depth:-1", "١+١", "1e3"]
        ),
    )
)
def test_any_text_is_a_time_control_or_a_parse_error(text: str) -> None:
    try:
        control = read_time_control(text)
    except ParseError as error:
        hint = error.hint
    else:
        hint = str(control)
    assert hint


def test_a_clock_counts_down_and_up_and_flags_behind_the_margin() -> None:
    clock = GameClock(TimeControl("clock", 1000, 100), margin_ms=20)
    assert clock.words(0) == b"p1time 1000 p2time 1000 p1inc 100 p2inc 100"
    assert clock.charge(0, 400)
    assert clock.left_ms == [700, 1000]
    assert clock.allowance_ms(0) == 720
    assert clock.charge(1, 1010)
    assert clock.left_ms == [700, 100]
    assert not clock.charge(1, 121)
    assert GameClock(TimeControl("nodes", 0, 0, 9)).allowance_ms(0) is None
    assert GameClock(TimeControl("movetime", 500, 0)).words(0) == b"movetime 500"


def test_a_draw_by_score_needs_both_sides_calm_for_long() -> None:
    adjudicator = Adjudicator(Adjudication(draw_moves=2, draw_score=10, draw_after_ply=6))
    scores = [5, -5, 0, 0, 90, 0, 1, 2, 3]
    found = [adjudicator.ply(ply % 2, ply + 1, score, False) for ply, score in enumerate(scores)]
    assert [outcome is not None for outcome in found] == [False] * 8 + [True]
    assert found[-1].reason is Termination.DRAW_BY_SCORE  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("ply", "score", "is_drawn"),
    [(30, 20, True), (30, -20, True), (29, 0, False), (30, 21, False), (40, -21, False), (40, None, False)],
)
def test_a_bot_takes_a_persons_draw_by_its_score_alone(ply: int, score: int | None, is_drawn: bool) -> None:
    bot, person = BotSpec("a v1", ("a",)), BotSpec("@ann", (), place="person")
    spec = GameSpec(family="loa", variant="standard", first=person, second=bot)
    assert answered_for(spec) == {1}
    assert answered_for(replace(spec, first=bot, second=person)) == {0}
    assert answered_for(replace(spec, first=bot)) == frozenset()
    assert answered_for(replace(spec, first=person, second=person)) == frozenset()
    adjudicator = Adjudicator(Adjudication(), answered_for(spec))
    assert adjudicator.ply(1, ply - 2, score, offers_draw=False) is None  # nobody has offered one
    assert adjudicator.ply(0, ply - 1, None, offers_draw=True) is None
    outcome = adjudicator.ply(1, ply, score, offers_draw=False)
    assert (outcome is not None and outcome.reason is Termination.DRAW_AGREED) == is_drawn


def test_one_pessimist_does_not_lose_by_adjudication() -> None:
    adjudicator = Adjudicator(Adjudication(resign_moves=2, resign_score=500))
    assert not any(adjudicator.ply(ply % 2, ply, -900 if ply % 2 else 0, False) for ply in range(20))


def test_rules_for_adjudication_are_read_or_refused_by_name() -> None:
    assert read_draw_rule("after=30,moves=6,score=15", Adjudication()).draw_after_ply == 30
    assert read_resign_rule("moves=3,score=700,both=0", Adjudication()).resign_both is False
    for text in ("moves=x", "moves=\N{ARABIC-INDIC DIGIT THREE}", "colour=1", "score=5", ""):
        with pytest.raises(ValueError, match="--draw"):
            read_draw_rule(text, Adjudication())
