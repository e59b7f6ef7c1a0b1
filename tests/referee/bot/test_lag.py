"""Who was late? The referee's own lateness is measured, recorded and not charged; a bot's is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from referee.bot import process
from referee.bot.process import MAX_GAME_NS, MAX_START_NS, MAX_TURN_NS, QueueMeter
from referee.game.failure import Reason
from referee.game.record import GameRecord, Ply, read_record
from referee.game.spec import BotLimits, BotSpec, GameSpec, PlannedGame, TimeControl
from referee.machine.pool import SlotPool
from referee.play.play import play
from referee.play.roster import Roster
from referee.play.slot import play_games
from tests.badbots.catalogue import FAULTS
from tests.referee.conftest import BRIEF, HERE, PATIENT, PATIENT_TIME, scripted

CLOCK = TimeControl("clock", 300, 0)
"""For a bot that does not answer in time whatever it is given."""
LATE = next(fault.bot for fault in FAULTS if fault.name == "late")
"""A bot that answers when it is told that its time is up."""
HELD_S, MAX_SLICE_S = 1.0, 0.5
"""For how long the slot is stopped, and the most of it that may belong to a wait that had begun before."""


@pytest.fixture(scope="module")
def pool() -> Iterator[SlotPool]:
    with SlotPool(1) as found:
        yield found


def played(pool: SlotPool, spec: GameSpec) -> GameRecord:
    return pool.submit(play_games, [PlannedGame.of(spec)]).result(200)[0]


def held(pool: SlotPool, word: str, time: TimeControl) -> GameRecord:
    """A game of a bot that stops the slot for a while at its first move; the opponent resigns at its second."""
    holding = BotSpec("holding", (sys.executable, "-S", "-E", str(HERE / "holding.py"), word, str(HELD_S)))
    two = scripted("two", "h4f2", "resign")
    return played(pool, GameSpec("loa", "standard", holding, two, time=time, limits=BRIEF))


def test_a_referee_that_was_stopped_charges_nobody_for_it(pool: SlotPool) -> None:
    record = held(pool, "answers", PATIENT_TIME)
    assert (record.termination, record.loser) == ("resigned", "second"), record.detail
    ply = record.plies[0]
    assert ply.ms > 1000 * HELD_S
    assert ply.lag_ms > 1000 * (HELD_S - MAX_SLICE_S)
    assert ply.charged_ms == pytest.approx(ply.ms - ply.lag_ms, abs=0.002)
    assert record.lag["max_ms"] == max(charged.lag_ms for charged in record.plies)
    assert record.lag["total_ms"] >= ply.lag_ms
    assert '"lag":{"max_ms":' in record.line()
    assert read_record(record.line()) == record


def test_a_bot_that_is_late_all_the_same_loses(pool: SlotPool) -> None:
    record = held(pool, "stays-silent", CLOCK)
    assert (record.termination, record.loser) == ("stalled", "first")
    assert "no bestmove" in record.detail


def test_a_bot_that_is_late_by_itself_loses_with_the_figures(pool: SlotPool) -> None:
    record = played(pool, GameSpec("loa", "standard", LATE, scripted("two"), time=CLOCK, limits=PATIENT))
    assert (record.termination, record.loser) == ("time", "first")
    assert "320.0 ms were left" in record.detail
    assert "came later" in record.detail


def test_the_margin_is_what_a_flag_may_be_overstepped_by(roster: Roster) -> None:
    """It had used all but a moment of its clock, and nobody answers in that."""
    spent = [("b1b3", Ply(299.9, 299.9)), ("h4f2", Ply(0.1, 0.1))]
    bots = scripted("one", "--think", "1", "50", "d1a4"), scripted("two", "resign")
    spec = GameSpec("loa", "standard", *bots, time=CLOCK, limits=replace(PATIENT, margin_ms=120_000))
    record = play(PlannedGame.of(spec), roster, None, spent)
    assert (record.termination, record.loser) == ("resigned", "second")
    assert record.plies[0].charged_ms + record.plies[2].charged_ms > 300


def test_python_is_a_program_where_no_folder_of_the_path_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/var/empty")
    assert process._problem_with(BotSpec("mine", ("python", "mine.py"))) is None
    problem = process._problem_with(BotSpec("mine", ("pithon", "mine.py")))
    assert problem == (Reason.NO_PROGRAM, "no such program: 'pithon' is not on the path")


# A bot that waits for a processor.


class Machine:
    """Threads of one bot with what they have waited, in milliseconds, and what its processes have used."""

    def __init__(self, proc: Path) -> None:
        self.proc, self.used_ms = proc, 0
        self.meter = QueueMeter(7, lambda: self.used_ms * 10**6)

    def waits(self, **threads_ms: int) -> None:
        for thread, ms in threads_ms.items():
            folder = self.proc / "7" / "task" / thread.removeprefix("t")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "schedstat").write_text(f"1 {ms * 10**6} 1\n")

    def runs(self, thread: str, ran_ms: int, state: str) -> None:
        folder = self.proc / "7" / "task" / thread.removeprefix("t")
        (folder / "schedstat").write_text(f"{ran_ms * 10**6} 0 1\n")
        (folder / "stat").write_text(f"7 (a ) name) {state} 1 7\n")

    def waited_ms(self, took_ms: int) -> float:
        return self.meter.waited_ns(took_ms * 10**6) / 10**6


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.setattr(process, "_PROC", str(tmp_path))
    monkeypatch.setattr(process, "descendants", lambda pid: iter(()))
    found = Machine(tmp_path)
    yield found
    found.meter.close()


def test_the_thread_that_waited_longest_counts_as_far_as_the_bot_did_not_run(machine: Machine) -> None:
    machine.waits(t7=5, t8=400)
    machine.meter.begin()
    assert machine.waited_ms(100) == 0
    machine.waits(t7=35, t8=460, t9=1000)
    assert machine.waited_ms(100) == 60, "nor what began later"
    machine.used_ms = 70
    assert machine.waited_ms(100) == 30, "who used so much did not wait longer than the rest"
    machine.used_ms = 120
    assert machine.waited_ms(100) == 0, "several threads of one bot wait for each other at its own cost"
    machine.meter.begin()
    assert machine.waited_ms(100) == 0


def test_a_thread_that_starts_and_ends_in_a_turn_counts_where_starts_are_seen(machine: Machine) -> None:
    machine.waits(t7=5)
    machine.meter.begin(is_start=True)
    machine.waits(t7=15, t9=200)
    assert machine.waited_ms(1000) == 10, "nobody has looked"
    machine.meter.look()
    assert machine.waited_ms(1000) == 200
    machine.waits(t9=250)
    machine.meter.look()
    (machine.proc / "7" / "task" / "9" / "schedstat").write_text("0 0 0\n")  # as of a thread that has ended
    assert machine.waited_ms(1000) == 250
    machine.waits(t8=5)
    machine.meter.begin()
    machine.waits(t8=275, t10=400)
    machine.meter.look()
    assert machine.waited_ms(1000) == 270, "a turn sees what has started before it, however lately, but no starts"


def test_a_wait_that_goes_on_is_told_from_running_and_from_sleeping(machine: Machine) -> None:
    machine.waits(t7=0, t8=0)
    machine.meter.begin()
    assert not machine.meter.is_in_line(), "nothing is known of what it does"
    machine.runs("t7", 5, "S")
    machine.runs("t8", 5, "R")
    assert machine.meter.is_in_line()
    assert machine.meter.is_in_line(), "it has not run since"
    machine.runs("t8", 6, "R")
    assert not machine.meter.is_in_line(), "it runs"
    machine.runs("t8", 6, "S")
    assert not machine.meter.is_in_line(), "it waits for something else"


def test_what_is_not_charged_is_bounded_in_a_turn_and_in_a_game(machine: Machine) -> None:
    machine.waits(t7=0)
    machine.meter.begin()
    machine.waits(t7=100_000)
    assert machine.meter.waited_ns(10**11) == MAX_TURN_NS
    assert machine.meter.waited_ns(10**11, MAX_START_NS) == MAX_START_NS
    machine.meter.end(MAX_GAME_NS - 5)
    assert machine.meter.waited_ns(10**11) == 5
    machine.meter.start()
    assert machine.meter.waited_ns(10**11) == MAX_TURN_NS


def worked(
    pool: SlotPool,
    time: TimeControl,
    *,
    children: int = 0,
    rivals: int = 0,
    start_ms: int = 0,
    limits: BotLimits = BRIEF,
) -> GameRecord:
    """A game of a bot with so many children, on a core on which so many other processes never rest."""
    core = max(os.sched_getaffinity(0))
    spin = f"import os; os.sched_setaffinity(0, {{{core}}}); print(flush=True)\nwhile True: pass"
    words = map(str, (HERE / "working.py", core, children, start_ms))
    bot = BotSpec("working", (sys.executable, "-S", "-E", *words))
    spec = GameSpec("loa", "standard", bot, scripted("two", "h4f2"), time=time, limits=limits)
    with ExitStack() as stack:
        for _ in range(rivals):  # in a session each: the kernel may share a core out among sessions
            command = [sys.executable, "-S", "-c", spin]
            rival = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True))
            stack.callback(rival.kill)
            assert rival.stdout is not None
            assert rival.stdout.readline()
        return played(pool, spec)


def test_a_bot_that_has_to_wait_for_a_processor_is_not_charged_for_it(pool: SlotPool) -> None:
    record = worked(pool, PATIENT_TIME, rivals=5)
    assert (record.termination, record.loser) == ("resigned", "first"), record.detail
    assert record.plies[0].ms > record.plies[0].charged_ms + 50
    assert record.plies[0].charged_ms > 45


def test_a_bot_that_has_to_wait_for_a_processor_is_not_late_at_its_start(pool: SlotPool) -> None:
    limits = replace(BRIEF, start_ms=1000)
    record = worked(pool, PATIENT_TIME, rivals=5, start_ms=400, limits=limits)  # more than two seconds
    assert (record.termination, record.loser) == ("resigned", "first"), record.detail
    record = worked(pool, PATIENT_TIME, start_ms=3000, limits=limits)
    assert (record.termination, record.loser) == ("handshake-failed", "first")
    assert record.detail.endswith("no answer to `ugi` in 1 s")


def test_a_bot_that_waits_for_its_own_processes_is(pool: SlotPool) -> None:
    record = worked(pool, TimeControl("clock", 180, 0), children=8)
    assert record.termination in ("time", "stalled")
    assert record.loser == "first"
