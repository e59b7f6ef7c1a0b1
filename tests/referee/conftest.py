"""Scripted bots and a roster for tests of the referee."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.game.record import GameRecord
from referee.game.spec import BotLimits, BotSpec, GameSpec, PlannedGame, TimeControl
from referee.play.roster import Roster
from referee.play.slot import play_games  # noqa: F401 - imported here once, so that its cost is no test's
from referee.sandbox import Sandbox

HERE = Path(__file__).parent
BLACK = ["b1b3", "d1a4", "e1c3"]
WHITE = ["h4f2", "h2e2", "a5c3"]

PATIENT = replace(BotLimits(), start_ms=120_000, ready_ms=120_000, grace_ms=120_000, quit_ms=60_000)
"""For bots that do what they are asked for: none of them fails because a busy machine holds it up."""
BRIEF = replace(PATIENT, grace_ms=150)
"""For a bot that lets its clock run down: nobody waits long for what never comes."""
PATIENT_TIME = TimeControl("clock", 120_000, 0)


def scripted(name: str, *words: str) -> BotSpec:
    """A bot that answers from a list."""
    return BotSpec(name, (sys.executable, "-S", "-E", str(HERE / "scripted.py"), *words))


@pytest.fixture
def roster() -> Iterator[Roster]:
    """A roster in this process; it kills its own bots only."""
    with Roster(Sandbox("none")) as found:
        yield found


@pytest.fixture
def game() -> Callable[..., PlannedGame]:
    """A Lines of Action game between two scripted bots; keywords replace fields of the spec."""

    def build(first_words: list[str], second_words: list[str], **changes: Any) -> PlannedGame:
        spec = GameSpec(
            "loa",
            "standard",
            scripted("one", *first_words),
            scripted("two", *second_words),
            time=PATIENT_TIME,
            limits=PATIENT,
        )
        return PlannedGame.of(replace(spec, **changes))

    return build


def a_record(**changes: Any) -> GameRecord:
    """A plausible record of a drawn game without moves."""
    from referee.rules.core import Kind, Termination

    record = GameRecord(
        id="0123456789abcdef",
        family="loa",
        variant="standard",
        options={},
        position="1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1 b - 1",
        first="one",
        second="two",
        winner="draw",
        termination=Termination.DRAW_AGREED,
        kind=Kind.ADJUDICATION,
        moves=(),
        plies=(),
        started="2026-01-01T00:00:00.000Z",
        finished="2026-01-01T00:00:01.000Z",
        sequence=1,
        pair=1,
    )
    return replace(record, **changes)


def results(*lines: str) -> list[GameRecord]:
    """Records from lines such as `a b 1-0`."""
    winners = {"1-0": "first", "0-1": "second", "=": "draw"}
    records = []
    for number, line in enumerate(lines):
        first, second, result = line.split()
        records.append(
            a_record(
                id=f"{number:016x}",
                first=first,
                second=second,
                winner=winners[result],
                sequence=number + 1,
                pair=number // 2 + 1,
            )
        )
    return records
