"""Plays one game of a bad bot against an honest one, then an honest game, and counts what is left over."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from referee.game.record import GameRecord
from referee.game.spec import GameSpec, PlannedGame
from referee.play.play import play
from referee.play.roster import Roster
from referee.sandbox import Sandbox
from referee.sandbox.reaper import become_subreaper, children, descendants
from tests.badbots.catalogue import LIMITS, LONG, Fault
from tests.referee.conftest import scripted

SLACK_S = 0.5
"""How long after its limit a fault may take to be judged where nothing else runs."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What this process has open and running, and how big it is."""

    resident_bytes: int
    descriptors: int
    processes: int
    files: int

    @classmethod
    def take(cls, others: Container[int] = ()) -> Trace:
        """Count now, but not the children `others`, a database server say, and what they start."""
        with open("/proc/self/statm", "rb") as file:
            resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return cls(
            resident,
            len(os.listdir("/proc/self/fd")),
            sum(1 for child in children() if child not in others for _ in (child, *descendants(child))),
            len(os.listdir(tempfile.gettempdir())),
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a game of a bad bot ended: the record, the seconds it took, and those to clear up after it."""

    record: GameRecord
    seconds: float
    clearing_s: float


@contextmanager
def roster(sandbox: Sandbox) -> Iterator[Roster]:
    """A roster that, like that of a game slot, may kill every stray child of this process."""
    is_reaper = become_subreaper()
    before = children()
    with Roster(sandbox, is_reaper=is_reaper) as found:
        yield found
    assert children() <= before, "processes are left over"


def spec_of(fault: Fault, sequence: int = 0, *, is_confined: bool = False) -> GameSpec:
    """The game of a bad bot: it moves first, against one that plays two moves and resigns."""
    honest = scripted("honest", "h4f2", "resign")
    time = fault.time(is_confined)
    return GameSpec("loa", "standard", fault.bot, honest, time=time, limits=fault.limits, sequence=sequence)


def judge(fault: Fault, found: Roster, sequence: int = 0) -> Verdict:
    """Play it."""
    spec = spec_of(fault, sequence, is_confined=found.sandbox.name == "bwrap")
    begin = time.monotonic()
    record = play(PlannedGame.of(spec), found)
    end = time.monotonic()
    return Verdict(record, end - begin, _clear(found))


def _clear(found: Roster) -> float:
    begin = time.monotonic()
    found.close()
    return time.monotonic() - begin


def play_honestly(found: Roster) -> GameRecord:
    """A game of two honest bots: does the referee still work?"""
    one, two = scripted("one", "b1b3", "resign"), scripted("two", "h4f2")
    return play(PlannedGame.of(GameSpec("loa", "standard", one, two, time=LONG, limits=LIMITS)), found)


def complaint(fault: Fault, verdict: Verdict, is_confined: bool) -> str:
    """What is wrong with the verdict; empty when nothing is."""
    record = verdict.record
    expected = fault.expected(is_confined)
    loser = "second" if record.termination == "resigned" else "first"
    if record.termination not in expected or record.loser != loser:
        return f"{record.loser} lost by {record.termination}, not by {' or '.join(expected)}: {record.detail}"
    if fault.evidence not in record.detail:
        return f"the record does not say {fault.evidence!r}: {record.detail}"
    return ""


def is_late(fault: Fault, verdict: Verdict, slack_s: float = SLACK_S) -> str:
    """By how much it took too long; empty when it did not."""
    allowed = fault.limit_ms / 1000 + slack_s
    if verdict.seconds > allowed:
        return f"judged after {verdict.seconds:.3f} s, {allowed:.3f} s are allowed"
    allowed = fault.leaves_ms / 1000 + slack_s
    if verdict.clearing_s > allowed:
        return f"cleared up after {verdict.clearing_s:.3f} s, {allowed:.3f} s are allowed"
    return ""


__all__ = ["SLACK_S", "Trace", "Verdict", "complaint", "is_late", "judge", "play_honestly", "roster", "spec_of"]
