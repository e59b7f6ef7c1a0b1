"""Bots that are asked by a slot who they are: their processes stay for the game, their names become different."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.check import probe as introduction
from referee.check.probe import Candidate, GameConditions, IneligibleError, ProbeError, probe_all
from referee.game.spec import BotSpec, GameSpec, PlannedGame, read_time_control
from referee.play import slot
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules import load
from tests.referee.conftest import PATIENT, PATIENT_TIME, scripted

CLOCKS = ("--option", "option name UGI_Clocks type check default true")
LOA = GameConditions.of(load("loa").settle(), PATIENT, None)


@pytest.fixture
def slot_of_this(roster: Roster, monkeypatch: pytest.MonkeyPatch) -> Roster:
    """This process as a slot, which has nothing to load."""
    monkeypatch.setattr(slot, "_roster", roster)
    monkeypatch.setattr(introduction, "get_ready", lambda family: None)
    return roster


def test_the_bots_that_were_asked_play_the_first_game(slot_of_this: Roster) -> None:
    specs = probe_all([Candidate(scripted("", "b1b3", "resign")), Candidate(scripted("", "h4f2"))], LOA)
    assert isinstance(specs, tuple)
    assert [bot.name for bot in specs] == ["scripted", "scripted-2"]
    assert [bot.spec for bot in slot_of_this._idle] == list(specs)
    pids = {bot.process.pid for bot in slot_of_this._idle}
    record = play(PlannedGame.of(GameSpec("loa", "standard", *specs, time=PATIENT_TIME, limits=PATIENT)), slot_of_this)
    assert (record.moves, record.first, record.second) == (("b1b3", "h4f2"), "scripted", "scripted-2")
    assert {bot.process.pid for bot in slot_of_this._idle} == pids


def test_of_many_bots_the_last_two_wait(slot_of_this: Roster) -> None:
    found = probe_all([Candidate(scripted(name, "b1b3")) for name in ("a", "b", "c", "d", "e")], LOA)
    assert isinstance(found, tuple)
    assert [bot.name for bot in found] == ["a", "b", "c", "d", "e"]
    assert [bot.spec.name for bot in slot_of_this._idle] == ["e"]


def test_a_bot_that_is_examined_starts_anew(slot_of_this: Roster) -> None:
    timed = replace(LOA, control=read_time_control("2+0"))
    found = probe_all(
        [Candidate(scripted("plain", *40 * ["b1b3"])), Candidate(scripted("told", *CLOCKS, "b1b3"))], timed
    )
    assert isinstance(found, tuple)
    assert [bot.spec.name for bot in slot_of_this._idle] == ["told"]
    assert not found[1].capabilities


def test_whoever_cannot_play_ends_it_for_all(slot_of_this: Roster) -> None:
    plain = scripted("plain", "b1b3")
    mute = BotSpec("mute", ("/bin/sh", "-c", "echo no book >&2"))
    outcome = probe_all([Candidate(plain), Candidate(mute)], LOA)
    assert isinstance(outcome, ProbeError)
    assert "no book" in str(outcome)
    outcome = probe_all([Candidate(plain), Candidate(BotSpec("ghost", ("/no/such/program",)))], LOA)
    assert isinstance(outcome, ProbeError)
    outcome = probe_all([Candidate(plain, [("Hash", "64")]), Candidate(plain)], LOA)
    assert isinstance(outcome, IneligibleError)
    assert not slot_of_this._idle
