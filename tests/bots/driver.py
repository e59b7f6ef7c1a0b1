"""A bot in a process of its own, driven over real pipes: every wait has a deadline, nothing sleeps."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from protocol.lines import LineSplitter

ROOT = Path(__file__).parents[2]
DEADLINE_S = 60.0
COLD_S = 200.0
"""For `isready`: an empty cache means compiling."""


def sample(module: str, *arguments: str) -> list[str]:
    """The command of a sample bot."""
    return [sys.executable, "-m", f"bots.samples.{module}", *arguments]


class Driver:
    """The referee's end of a bot. Use it in a `with`: on the way out the process is gone, killed if need be."""

    def __init__(self, command: Sequence[str], folder: Path = ROOT) -> None:
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            cwd=folder,
            env=environment,
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self._splitter = LineSplitter()
        self._lines: list[str] = []
        self.seen: list[str] = []
        """Every line received."""

    def __enter__(self) -> Driver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stdin.close()
        try:
            if kind is not None:
                self.process.kill()
            self.process.wait(DEADLINE_S)
        finally:
            self.process.kill()
            self.process.wait()
            self.stdout.close()
            self.log.close()

    def errors(self) -> str:
        """What the bot wrote to standard error so far."""
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")

    def send(self, *lines: str) -> None:
        """Write lines, all at once."""
        self.stdin.write("".join(f"{line}\n" for line in lines).encode())

    def line(self, deadline_s: float = DEADLINE_S) -> str | None:
        """The next line; None at the end of the output. Fails when the deadline passes."""
        until = time.monotonic() + deadline_s
        while not self._lines:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.stdout], [], [], left)[0]:
                raise AssertionError(f"no line in {deadline_s} s, after {self.seen[-5:]}; {self.errors()}")
            data = os.read(self.stdout.fileno(), 65536)
            if not data:
                return None
            self._lines += [line.decode() for line in self._splitter.feed(data)]
        self.seen.append(self._lines.pop(0))
        return self.seen[-1]

    def expect(self, start: str, deadline_s: float = DEADLINE_S) -> str:
        """The next line that begins so; others are passed over."""
        until = time.monotonic() + deadline_s
        while True:
            line = self.line(max(0.0, until - time.monotonic()))
            assert line is not None, f"the bot ended before {start!r}: {self.seen[-5:]} {self.errors()}"
            if line.startswith(start):
                return line

    def shake_hands(self) -> list[str]:
        """`ugi` … `ugiok`, then `isready` … `readyok`; what it said in the first part."""
        self.send("ugi")
        self.expect("ugiok")
        said = list(self.seen)
        self.ready()
        return said

    def ready(self, *before: str) -> None:
        """Some lines, then `isready` … `readyok`."""
        self.send(*before, "isready")
        self.expect("readyok", COLD_S)

    def ask(self, position: str, go: str) -> str:
        """`position …`, `go …`; the move answered."""
        self.send(f"position {position}", f"go {go}")
        return self.expect("bestmove ").split()[1]

    def leave(self) -> int:
        """`quit`; the exit code."""
        self.send("quit")
        return self.process.wait(DEADLINE_S)
