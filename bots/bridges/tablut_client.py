"""A client of the Tablut Challenge: its process, its connection, its answers."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from bots.bridges.engine_process import writable_folder
from bots.bridges.failure import BridgeError, BridgeExit
from bots.bridges.tablut_wire import PORTS, Frames, read_name

SERVER = "127.0.0.1"
CONNECT_TIMEOUT_S = 45.0
"""Time for a client to connect and send its name: less than the referee waits for `readyok`."""
POLL_INTERVAL_S = 0.05
"""Interval of checks whether a client has ended while the bridge waits for it."""
EXIT_TIMEOUT_S = 2.0
"""Time to wait for the exit code of a client that has closed its connection."""
CLOSE_TIMEOUT_S = 0.25
"""Time for a client to end after its connection is closed; then it is killed."""
PLACEHOLDERS = ("{role}", "{seconds}", "{server}")


def listen(role: str) -> socket.socket:
    """Listen on the fixed port of the role. Raises BridgeError, for example if another game uses the port."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # The kernel keeps the port of a closed connection for a minute: without this, the next game could not use it.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((SERVER, PORTS[role]))
        listener.listen(1)
    except OSError as error:
        listener.close()
        if error.errno != errno.EADDRINUSE:
            raise BridgeError(BridgeExit.UNREACHABLE, f"cannot listen on port {PORTS[role]}: {error}") from None
        raise BridgeError(
            BridgeExit.UNREACHABLE,
            f"port {PORTS[role]} is taken: without a network namespace only one such game can run at a time; "
            "allow `unshare -Urn`, or use --concurrency 1",
        ) from None
    return listener


def command_line(command: Sequence[str], role: str, seconds: int) -> list[str]:
    """Return the client's command with role, seconds and server filled in, or appended if it has no placeholders."""
    values = dict(zip(PLACEHOLDERS, (role, str(seconds), SERVER), strict=True))
    if not any(place in word for word in command for place in PLACEHOLDERS):
        return [*command, *values.values()]
    words = []
    for word in command:
        for place, value in values.items():
            word = word.replace(place, value)
        words.append(word)
    return words


def unknown_placeholder(command: Sequence[str]) -> str | None:
    """Return the first word in braces of the client's command that is not filled in."""
    words = re.findall(r"\{[a-z]+\}", " ".join(command))
    return next((word for word in words if word not in PLACEHOLDERS), None)


class TablutClient:
    """A client that was started; `wait_for_name` waits until it is connected."""

    def __init__(self, command: Sequence[str], role: str, seconds: int) -> None:
        self.role = role
        self.name = ""
        self._connection: socket.socket | None = None
        self._frames = Frames()
        self._payloads: list[bytes] = []
        self._listener = listen(role)
        line = command_line(command, role, seconds)
        self._leaving = contextlib.ExitStack()
        folder = self._leaving.enter_context(writable_folder())
        if folder:  # the parent of that folder is another one
            line = [re.sub(r"(?<![^=:,])\.\./", f"{os.path.dirname(os.getcwd())}/", word) for word in line]
        try:
            self._process = subprocess.Popen(
                # The client may print; standard output belongs to the protocol.
                line,
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr.fileno(),
                start_new_session=True,
                cwd=folder,
            )
        except OSError as error:
            self._leaving.close()
            self._listener.close()
            raise BridgeError(BridgeExit.MISSING, f"cannot start the client {line[0]!r}: {error.strerror}") from None

    def wait_for_name(self, stop_fd: int) -> None:
        """Wait until the client has connected and sent its name.

        Raises BridgeError: `LATE` after CONNECT_TIMEOUT_S, and if the descriptor `stop_fd` becomes readable first.
        """
        deadline = time.monotonic() + CONNECT_TIMEOUT_S
        self._wait(self._listener, stop_fd, deadline, f"connect to port {PORTS[self.role]}")
        self._connection, _ = self._listener.accept()
        self._listener.close()
        # Boards are small: the kernel would hold one back until the client has acknowledged the one before.
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while not self._payloads:
            self._wait(self._connection, stop_fd, deadline, "send its name")
            self._receive("before it sent its name")
        self.name = read_name(self._payloads.pop(0))

    def send(self, frame: bytes) -> None:
        """Send a frame. A closed connection is noticed at the next read."""
        assert self._connection
        with contextlib.suppress(OSError):
            self._connection.sendall(frame)

    def drop_unrequested(self) -> int:
        """Drop messages that were not requested; return their number."""
        assert self._connection
        while select.select([self._connection], (), (), 0)[0]:
            try:
                self._receive("before its turn")
            except BridgeError:
                break
        count, self._payloads = len(self._payloads), []
        return count

    def next_message(self, stop_fd: int) -> bytes | None:
        """Return the next message; None if the descriptor `stop_fd` becomes readable first. Raises BridgeError."""
        assert self._connection
        while not self._payloads:
            sources: list[Any] = [self._connection, stop_fd]
            ready, _, _ = select.select(sources, (), ())
            if self._connection in ready:
                self._receive("while it was to move")
            elif stop_fd in ready:
                return None
        return self._payloads.pop(0)

    def _receive(self, stage: str) -> None:
        assert self._connection
        try:
            data = self._connection.recv(65_536)
        except OSError as error:
            raise BridgeError(BridgeExit.BROKEN, f"the connection to the client broke {stage}: {error}") from None
        if not data:
            raise BridgeError(BridgeExit.BROKEN, f"the client closed its connection {stage}{self._exit_description()}")
        self._payloads += self._frames.feed(data)

    def _exit_description(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(EXIT_TIMEOUT_S)
            return f" and ended with {f'signal {-code}' if code < 0 else f'exit code {code}'}"
        return ""

    def _wait(self, source: socket.socket, stop_fd: int, deadline: float, action: str) -> None:
        """Wait until `source` is readable, the client has ended, or the time is up. Raises BridgeError."""
        while (left_s := deadline - time.monotonic()) > 0:
            code = self._process.poll()  # a sandbox offers no descriptor of a process to select on
            sources: list[Any] = [source, stop_fd]
            ready = select.select(sources, (), (), min(left_s, POLL_INTERVAL_S) if code is None else 0.0)[0]
            if source in ready:
                return
            if stop_fd in ready:
                break
            if code is not None:
                raise BridgeError(
                    BridgeExit.BROKEN, f"the {self.role} client ended with code {code} and did not {action}"
                )
        raise BridgeError(BridgeExit.LATE, f"the {self.role} client did not {action} in time")

    def close(self) -> None:
        """Close the connection; kill a client that does not end, with its children."""
        self._listener.close()
        if self._connection:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            self._connection.close()
        # Only a client that was connected notices the end of its connection.
        if self.name:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(CLOSE_TIMEOUT_S)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()  # in a sandbox it has no process group of its own
        self._process.wait()
        self._leaving.close()
