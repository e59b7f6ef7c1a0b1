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

FAST = replace(BotLimits(), start_ms=5000, ready_ms=5000, move_ms=3000, quit_ms=2000)


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

    def build(one: list[str], two: list[str], **changes: Any) -> PlannedGame:
        spec = GameSpec(
            "loa",
            "standard",
            scripted("one", *one),
            scripted("two", *two),
            time=TimeControl("clock", 5000, 0),
            limits=FAST,
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
