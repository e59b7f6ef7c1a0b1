"""The process of an engine that reads and writes lines, and ends after `quit`; and a folder that an engine may write.

A sandbox does not allow writing into the working folder: the new folder links to the files of that.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence

from bots.bridges.failure import BridgeError, BridgeExit
from protocol.errors import LineTooLong
from protocol.lines import LineSplitter

LINE_BYTES = 65_536
"""Longest line read of an engine; a longer one is dropped, since engines may list thousands of variants in one."""
CHUNK_BYTES = 65_536
EXIT_TIMEOUT_S = 2.0
"""Time to wait for the exit code of an engine that has closed its output."""
QUIT_TIMEOUT_S = 0.25
"""Time for an engine to end after `quit`; then it is killed."""


def kill(process: subprocess.Popen[bytes]) -> int:
    """Kill a process of its own session, with its children; return its exit code, negative for a signal."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()  # in a sandbox it has no process group of its own
    return process.wait()


def end_of(code: int) -> str:
    """Describe how a process with this exit code ended; it is negative for a signal."""
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"


class EngineProcess:
    """An engine that was started. `wake` ends a wait for its next line, from any thread."""

    def __init__(self, command: Sequence[str]) -> None:
        self.name = command[0]
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        """The lines of the engine; an empty one for each call of `wake`, None at the end of its output."""
        self._leaving = contextlib.ExitStack()
        folder = self._leaving.enter_context(writable_folder())
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sys.stderr.fileno(),
                start_new_session=True,
                cwd=folder,
            )
        except OSError as error:
            self._leaving.close()
            raise BridgeError(BridgeExit.MISSING, f"cannot start {self.name!r}: {error.strerror}") from None
        self._listener = threading.Thread(target=self._listen, name="engine", daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout
        splitter, source = LineSplitter(LINE_BYTES), self._process.stdout.fileno()
        while True:
            try:
                data = os.read(source, CHUNK_BYTES)
            except OSError:
                data = b""
            if not data:
                break
            try:
                lines = splitter.feed(data)
            except LineTooLong as error:
                lines = [*error.complete, *splitter.feed(b"")]
            for line in lines:
                if words := line.decode("utf-8", "replace").strip():
                    self._lines.put(words)
        self._lines.put(None)

    def send(self, *lines: str) -> None:
        """Write lines to the engine. Raises BridgeError if it has ended."""
        assert self._process.stdin
        try:
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
            self._process.stdin.flush()
        except OSError:
            raise self._ended(f"before `{lines[0]}`") from None

    def line(self, deadline: float | None, stage: str) -> str:
        """Return the engine's next line; an empty one after `wake`, or if none came until `deadline`.

        `deadline` is a time of `time.monotonic`. Raises BridgeError if the engine has ended, with `stage` in its text.
        """
        try:
            line = self._lines.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return ""
        if line is None:
            self._lines.put(None)
            raise self._ended(stage)
        return line

    def wake(self) -> None:
        """End the wait for the next line."""
        self._lines.put("")

    def waiting(self) -> list[str]:
        """Return the lines that have arrived, without waiting. Raises BridgeError if the engine has ended."""
        lines = []
        while not self._lines.empty():
            lines.append(self.line(0, "between its moves"))
        return [line for line in lines if line]

    def _ended(self, stage: str) -> BridgeError:
        try:
            code = self._process.wait(EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return BridgeError(BridgeExit.BROKEN, f"{self.name} closed its output {stage}")
        return BridgeError(BridgeExit.BROKEN, f"{self.name} {end_of(code)} {stage}")

    def close(self) -> None:
        """Send `quit`; kill an engine that does not end, with its children."""
        with contextlib.suppress(BridgeError):
            self.send("quit")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(QUIT_TIMEOUT_S)
        self.kill()

    def kill(self) -> None:
        """Kill the engine, with its children."""
        kill(self._process)
        self._leaving.close()
        self._listener.join(QUIT_TIMEOUT_S)  # a child of the engine may keep its output open
        if not self._listener.is_alive():
            assert self._process.stdin
            assert self._process.stdout
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            self._process.stdout.close()


MAX_LINKS = 4096
"""Files linked one by one; beyond that, whole folders are linked, which cannot be written to."""


@contextlib.contextmanager
def writable_folder() -> Iterator[str | None]:
    """Yield a temporary working folder; None if the present one is writable or none can be created."""
    here = os.getcwd()
    if os.access(here, os.W_OK):
        yield None
        return
    try:
        folder = tempfile.mkdtemp(prefix="client-")
    except OSError:
        yield None
        return
    try:
        _mirror(here, folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _mirror(source: str, target: str) -> None:
    """Create the folders of `source` in `target`, so that each is writable, and link the files."""
    waiting, count = [(source, target)], 0
    while waiting:
        source, target = waiting.pop(0)
        with os.scandir(source) as entries:
            for entry in entries:
                count += 1
                place = os.path.join(target, entry.name)
                if (
                    entry.is_dir(follow_symlinks=False)
                    and count < MAX_LINKS
                    and os.access(entry.path, os.R_OK | os.X_OK)
                ):
                    os.mkdir(place)
                    waiting.append((entry.path, place))
                else:
                    os.symlink(entry.path, place)
