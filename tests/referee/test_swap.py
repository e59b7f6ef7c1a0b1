"""The choice of sides before play: a bot that knows of it takes part, for another the referee passes."""

from __future__ import annotations

import pytest

from referee.game.spec import Adjudication, GameSpec, PlannedGame
from referee.play.play import play
from referee.play.roster import Roster
from referee.verify.verification import verify
from tests.referee.conftest import PATIENT, PATIENT_TIME, scripted

KNOWS = ("--option", "option name SwapPhase type check default false")
SWAP = "(a1a4)"
AFTER = "position fen s-p-r-s-p-r-/p-r-s-wwr-s-p-/6/7/6/P-S-R-WWS-R-P-/R-P-S-R-P-S- w 0 2"
STARTPOS = "position startpos"


def heard(log: str) -> list[str]:
    """The positions a bot was asked about."""
    return [line for line in log.splitlines() if line.startswith("position")]


@pytest.mark.parametrize(
    ("first_moves", "second_moves", "opening", "moves", "first_heard", "second_heard"),
    [
        ([*KNOWS, SWAP], [*KNOWS, "()"], (), (SWAP, "()"), ["", f"{SWAP} ()"], [SWAP]),
        ([*KNOWS, SWAP], [], (), (SWAP, "()"), ["", f"{SWAP} ()"], []),
        ([], [*KNOWS, "()"], (), ("()", "()"), [AFTER], ["()"]),
        ([], [], (), ("()", "()"), [AFTER], []),
        ([], [*KNOWS, "()"], (SWAP,), (SWAP, "()"), [AFTER], [SWAP]),
        ([], KNOWS, (SWAP, "()"), (SWAP, "()"), [AFTER], []),
        (KNOWS, [], (SWAP, "()"), (SWAP, "()"), [f"{SWAP} ()"], []),
    ],
)
def test_who_knows_no_swaps_sees_the_position_after_them(
    first_moves: list[str],
    second_moves: list[str],
    opening: tuple[str, ...],
    moves: tuple[str, ...],
    first_heard: list[str],
    second_heard: list[str],
    roster: Roster,
) -> None:
    first, second = (
        scripted("one", "--echo", *first_moves, "resign"),
        scripted("two", "--echo", *second_moves, "resign"),
    )
    spec = GameSpec(
        "pijersi",
        "standard",
        first,
        second,
        options={"swap_phase": True},
        opening=opening,
        time=PATIENT_TIME,
        limits=PATIENT,
    )
    record = play(PlannedGame.of(spec), roster)
    assert (record.winner, record.termination, record.moves) == ("second", "resigned", moves)
    for side, expected in (("first", first_heard), ("second", second_heard)):
        lines = [line if line == AFTER else f"{STARTPOS} moves {line}" if line else STARTPOS for line in expected]
        assert heard(record.logs.get(side, "")) == lines


def test_what_the_referee_passes_is_not_adjudicated(roster: Roster) -> None:
    first, second = scripted("one", "resign"), scripted("two", "resign")
    adjudication = Adjudication(max_plies=1)
    spec = GameSpec(
        "pijersi",
        "standard",
        first,
        second,
        {"swap_phase": True},
        adjudication=adjudication,
        time=PATIENT_TIME,
        limits=PATIENT,
    )
    record = play(PlannedGame.of(spec), roster)
    assert (record.termination, record.moves) == ("resigned", ("()", "()"))
    verify(record, spec)
