"""Programs that are started for every move."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace

import pytest

from bots.bridges import command
from bots.bridges.command import ProgramBot
from bots.bridges.failure import BridgeError, BridgeExit
from bots.sdk.clock import Clock
from protocol.messages import Go
from referee.game.spec import TimeControl
from referee.rules import load
from referee.rules.position import Position
from tests.bots.bridges.table import LIMITS, bridge, honest, meet

FIRST = "import sys; position, moves = sys.stdin.read().splitlines(); print(len(position)); print(moves.split()[0])"
START = Position.start(load("loa").settle())


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a busy machine takes to end a program, its exit code is its own."""
    monkeypatch.setattr(command, "EXIT_TIMEOUT_S", 60.0)


def program(code: str) -> tuple[str, ...]:
    return ("--family", "loa", "--name", "program", "--", sys.executable, "-S", "-E", "-c", code)


def test_a_program_plays() -> None:
    record = meet(bridge("command", *program(FIRST)), honest("h4f2", "resign"), "loa")
    assert record.winner == "first", (record.detail, record.logs)
    assert record.moves[0] == "b1b3"


def test_a_shell_line_that_does_not_read_plays() -> None:
    shell = ("--family", "loa", "--", "sh", "-c", 'test "$ARENA_SIDE$ARENA_PLY" = first0 && echo "$ARENA_MOVE"b1b3')
    record = meet(bridge("command", *shell), honest("resign"), "loa")
    assert record.winner == "first", (record.detail, record.logs)


def ask(code: str, milliseconds: int = 60_000) -> BridgeError:
    """What is wrong with a program."""
    with pytest.raises(BridgeError) as error:
        ProgramBot([sys.executable, "-S", "-E", "-c", code]).choose(START, Clock(Go(movetime=milliseconds), 0))
    return error.value


@pytest.mark.parametrize(
    ("code", "exit_code", "evidence"),
    [
        ("", BridgeExit.ANSWER, "wrote no move"),
        ("print('b1b2')", BridgeExit.ANSWER, "illegal move 'b1b2'"),
        ("print('x' * 100000)", BridgeExit.ANSWER, "more than 65536 bytes"),
        ("import sys; sys.exit(3)", BridgeExit.BROKEN, "ended with exit code 3"),
        ("import os; os.kill(os.getpid(), 11)", BridgeExit.BROKEN, "killed by signal 11"),
    ],
)
def test_a_program_that_misbehaves_is_named(code: str, exit_code: BridgeExit, evidence: str) -> None:
    error = ask(code)
    assert error.code is exit_code
    assert evidence in str(error)


@pytest.mark.parametrize("go", [Go(movetime=150), Go(infinite=True), Go(p1time=150, p2time=150)])
def test_a_program_is_ended_by_stop_alone(go: Go, capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock(go, 0)
    threading.Timer(0.3, clock.stop).start()
    assert ProgramBot([sys.executable, "-S", "-E", "-c", "import signal; signal.pause()"]).choose(START, clock) is None
    assert "had no move after" in capsys.readouterr().err


def test_a_late_program_loses_on_time() -> None:
    time = TimeControl("movetime", 150)
    late = bridge("command", *program("import signal; signal.pause()"))
    record = meet(late, honest("h4f2"), "loa", time=time, limits=replace(LIMITS, margin_ms=0))
    assert (record.termination, record.loser) == ("time", "first"), record.detail
    assert "had no move after" in record.logs["first"]


def test_a_program_may_use_all_its_clock_and_the_referee_says_what_is_late() -> None:
    slow = "import time; time.sleep(0.3); print('b1b3')"
    choose = ProgramBot([sys.executable, "-S", "-E", "-c", slow]).choose
    assert choose(START, Clock(Go(movetime=50), 0)) == START.read("b1b3")
    assert choose(START, Clock(Go(p1time=3000, p2time=3000), 0)) == START.read("b1b3")


def test_the_referee_shows_how_a_program_ended() -> None:
    record = meet(bridge("command", "--family", "loa", "--", "/no/such/program"), honest("h4f2"), "loa")
    assert (record.termination, record.loser) == ("crashed", "first")
    assert "exit code 66" in record.detail
    assert "cannot start '/no/such/program'" in record.logs["first"]
