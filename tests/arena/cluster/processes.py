"""A scheduler, workers and bots as real processes, for tests that kill them."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from arena.cluster.game_runner import BundlePlace
from referee.game.spec import GameSpec, PlannedGame, TimeControl
from tests.conftest import INTERPRETED
from tests.referee.conftest import BLACK, PATIENT, PATIENT_TIME, WHITE, scripted

ROOT = Path(__file__).parents[3]
TIMEOUT_S = 300.0
ENVIRONMENT = {"ARENA_ALLOW_WEAK_SANDBOX": "1", "ARENA_LOG_FORMAT": "json", "ARENA_LOG_LEVEL": "info"}

BLACK_RESIGNS, WHITE_PLAYS = [*BLACK, "resign"], [*WHITE, "resign"]
RESIGN, MUTE = ["resign"], list[str]()


def wait(condition: Callable[[], object], what: str, seconds: float = TIMEOUT_S) -> None:
    """Wait for a condition; fail with `what` on a timeout."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain for {what}"
        time.sleep(0.1)  # many conditions scan all processes of the machine


class Command:
    """A running `arena …` and its output on stdout and stderr, line by line."""

    def __init__(self, *words: str, program: Sequence[str] = ("-m", "arena"), **environment: str) -> None:
        line = [sys.executable, *program, *words]
        self.process = subprocess.Popen(
            line,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env={**os.environ, **INTERPRETED, **ENVIRONMENT, **environment},
        )
        self.said: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip())
        self._lines.put(None)

    @property
    def pid(self) -> int:
        return self.process.pid

    def until(self, part: str) -> str:
        """Return the next line that contains `part`; fail when the process ends before."""
        while True:
            try:
                line = self._lines.get(timeout=TIMEOUT_S)
            except queue.Empty:
                raise AssertionError(f"waited for {part!r} in vain; {self.said}") from None
            assert line is not None, f"ended with {self.process.wait()} before {part!r}; {self.said}"
            self.said.append(line)
            if part in line:
                return line

    def end(self) -> int:
        """Wait for the end of the process and return its exit code."""
        code = self.process.wait(TIMEOUT_S)
        while (line := self._lines.get(timeout=TIMEOUT_S)) is not None:
            self.said.append(line)
        return code

    def family(self) -> list[psutil.Process]:
        """Return all descendants: slots and bots."""
        return psutil.Process(self.pid).children(recursive=True)

    def bots(self) -> list[psutil.Process]:
        """Return the scripted bots among them, without their supervisors."""
        lines = {process: " ".join(_line(process)) for process in self.family()}
        return [process for process, line in lines.items() if "scripted.py" in line and "launcher.py" not in line]

    def slots(self) -> list[psutil.Process]:
        """Return the game slots among them."""
        return slots_of(self.pid)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> list[psutil.Process]:
        """Kill the process; return its descendants."""
        family = self.family()
        self.process.kill()
        self.process.wait()
        return family

    def close(self) -> None:
        """End the process if it still runs."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        self._reader.join(TIMEOUT_S)
        assert self.process.stdout is not None
        self.process.stdout.close()


def slots_of(pid: int) -> list[psutil.Process]:
    """Return the game slots below a process."""
    below = psutil.Process(pid).children(recursive=True)
    return [process for process in below if "referee.play.slot" in " ".join(_line(process))]


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def are_gone(processes: Sequence[psutil.Process]) -> bool:
    """Return whether all of them have ended."""
    return not any(_runs(process) for process in processes)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextmanager
def scheduler(port: int = 0, *words: str, ttl_s: int = 60, **environment: str) -> Iterator[tuple[str, Command]]:
    """Start a scheduler; return its address and process. Its timeout is long: workers stall on a busy machine."""
    command = Command("scheduler", "--port", str(port), "--worker-ttl", str(ttl_s), *words, **environment)
    try:
        line = command.until("://127.0.0.1:")
        yield line.split()[-1], command
    finally:
        command.close()


@contextmanager
def worker(address: str, folder: Path, *words: str, slots: int = 1, **environment: str) -> Iterator[Command]:
    """Start a worker and wait until it has joined."""
    given = [
        "--scheduler",
        address,
        "--slots",
        str(slots),
        "--data",
        str(folder),
        "--sandbox",
        "none",
        "--no-warm",
        *words,
    ]
    command = Command("worker", *given, **environment)
    try:
        command.until('"state": "ready"')
        yield command
    finally:
        command.close()


def pair(first: Sequence[str], second: Sequence[str], number: int = 0, time: str = "clock") -> list[PlannedGame]:
    """Return two games of scripted bots with sides swapped. A mute bot has a thousand seconds to think."""
    control = TimeControl("clock", 1_000_000 if MUTE in (first, second) else PATIENT_TIME.base_ms, 0)
    bots = scripted("one", *first), scripted("two", *second)
    return [
        PlannedGame.of(
            GameSpec("loa", "standard", *sides, time=control, limits=PATIENT, sequence=2 * number + turn, pair=number)
        )
        for turn, sides in enumerate((bots, bots[::-1]))
    ]


def place(folder: Path) -> BundlePlace:
    """Return a location without bundles."""
    return BundlePlace(str(folder / "bundles"), str(folder / "unpacked"))
