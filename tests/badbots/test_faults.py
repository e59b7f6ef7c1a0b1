"""Every bad bot loses the right way and in time, the next game starts, and nothing is left behind."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.game.spec import PlannedGame
from referee.play.roster import Roster
from referee.sandbox import Sandbox
from referee.sandbox.reaper import children
from tests.badbots import match
from tests.badbots.catalogue import FAULTS, HERE, Fault
from tests.badbots.test_soak import QUICK
from tests.referee.sandbox.levels import sandbox_or_skip

PATIENCE_S = 60.0
"""A busy machine is not an error; `python -m tests.badbots` measures how soon each is judged where nothing else runs.
Still it is far less than any limit but the fault's own.
"""


@pytest.fixture(autouse=True)
def _own_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


_BY_WORDS = {"illegal-move", "protocol-error", "output-limit"}
"""Of what a bot writes the referee judges in every sandbox alike."""
CASES = [
    *(("none", fault) for fault in FAULTS),
    *(("bwrap", fault) for fault in FAULTS if fault.confined or not set(fault.terminations) <= _BY_WORDS),
]
"""Every fault without a sandbox, and those of processes, pipes and limits also in the strongest one."""


@pytest.fixture(scope="module")
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    return sandbox_or_skip(request.param)


@pytest.fixture(scope="module")
def is_warm(sandbox: Sandbox) -> bool:
    """One game before any is timed: the rules are loaded then."""
    with match.roster(sandbox) as found:
        return match.play_honestly(found).termination == "resigned"


@pytest.fixture
def roster(sandbox: Sandbox, is_warm: bool) -> Iterator[Roster]:
    assert is_warm
    with match.roster(sandbox) as found:
        yield found


@pytest.mark.parametrize(
    ("sandbox", "fault"),
    CASES,
    indirect=["sandbox"],
    ids=[f"{level}-{fault.name}" for level, fault in CASES],
)
def test_the_right_bot_loses_for_the_right_reason_and_in_time(fault: Fault, roster: Roster) -> None:
    others = children()
    before = match.Trace.take(others)
    verdict = match.judge(fault, roster)
    assert not match.complaint(fault, verdict, roster.sandbox.name == "bwrap")
    assert not match.is_late(fault, verdict, PATIENCE_S)
    assert verdict.record.sandbox == roster.sandbox.name
    if fault not in QUICK or roster.sandbox.name != "none":  # of those the next game starts in the soak
        assert match.play_honestly(roster).termination == "resigned"
        roster.close()
    after = match.Trace.take(others)
    assert (after.processes, after.files) == (before.processes, before.files)
    assert after.descriptors <= before.descriptors  # what earlier tests forgot may be collected meanwhile


def test_every_program_is_in_the_catalogue() -> None:
    found = {path.stem for path in HERE.iterdir() if path.suffix in (".py", ".sh") and not path.stem.startswith("__")}
    assert found - {fault.name for fault in FAULTS} == {"catalogue", "loop", "match", "test_faults", "test_soak"}


@pytest.mark.parametrize("sandbox", ["none"], indirect=True)
def test_the_loser_may_be_the_second_bot_too(roster: Roster) -> None:
    from dataclasses import replace

    from referee.play.play import play
    from tests.referee.conftest import scripted

    for fault in FAULTS:
        if fault.name in ("exits_on_go", "two_bestmoves", "illegal_move", "exits_at_start"):
            spec = replace(match.spec_of(fault), first=scripted("honest", "b1b3", "d1a4"), second=fault.bot)
            record = play(PlannedGame.of(spec), roster)
            assert (record.loser, record.termination) == ("second", fault.terminations[0]), fault.name
