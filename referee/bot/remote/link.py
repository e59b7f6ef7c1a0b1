"""The link of a seat to the lobby, where remote bots are connected: a local socket, one JSON message a line.

to the lobby     {"key", "bot"}     the seat's credentials, sent once, as the first message
                {"open": true}     start a fresh program; output of the earlier one is dropped
                {"say": lines}     lines for the program
                {"check": ns}      measure the connection; answered after a round trip
from the lobby  {"terms"}          the connection's allowances, sent once, as the first message
                {"up": true}       the program is being started
                {"down": ns}       the connection is lost; time of its last message; sent at any time
                {"back": true}     the connection is back
                {"line": text}     a line from the program
                {"gone": text}     the program has ended; the text says how
                {"latency": [usual, longest]}   recent round trips in milliseconds; sent at any time
                {"checked": ms}    the longest round trip since the moment in `check`
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.game.failure import SandboxError, Stopped

_MS = 1_000_000
_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class LinkAllowance:
    """The allowances of a connection in milliseconds: uncharged latency per move and per game, and how long the
    connection may be lost in a game.
    """

    move_ms: float = 300
    game_ms: float = 30_000
    grace_ms: float = 30_000


class LineLost(Exception):  # noqa: N818 - not an error yet
    """The loss of the connection; `since_ns` is the time of the last message, on the monotonic clock."""

    def __init__(self, since_ns: int) -> None:
        super().__init__("the connection is lost")
        self.since_ns = since_ns


class ProgramGone(Exception):  # noqa: N818 - a finding
    """The end of the remote program; the message says how it ended."""


class LobbyLink:
    """The seat's end of the link to the lobby.

    `latency_ms` is the usual round trip, `longest_ms` the longest recent one. When `stop_fd` becomes readable, every
    wait raises Stopped. When the lobby is gone, every wait raises SandboxError (not the bot's fault).
    """

    def __init__(self, place: str, key: str, bot: str, stop_fd: int | None) -> None:
        self.terms = LinkAllowance()
        self.latency_ms = self.longest_ms = 0.0
        self.arrived_ns = 0
        self._lines: deque[tuple[bytes, int]] = deque()
        self._gone: str | None = None
        self._lost_ns: int | None = None
        self._is_back = False
        self._checked_ms: deque[float] = deque()
        self._is_up = False
        self._rest = b""
        self._stop_fd = stop_fd
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(place)
        except OSError as error:
            self._socket.close()
            raise SandboxError(f"no lobby for remote bots: {error.strerror or error}") from None
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        if stop_fd is not None:
            self._poll.register(stop_fd, select.POLLIN)
        self._send({"key": key, "bot": bot})

    def close(self) -> None:
        """Disconnect; the lobby ends the program."""
        self._socket.close()

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise SandboxError(f"the lobby for remote bots is gone: {error.strerror or error}") from None

    # -- to the lobby --------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Start a fresh program on its author's machine, and wait until it runs. Raises LineLost."""
        # Lines of the earlier program would be taken for answers of the new one.
        self._lines.clear()
        self._gone, self._lost_ns, self._is_up = None, None, False
        self._send({"open": True})
        # Without a deadline: the lobby answers at once, by `up` or by `down`.
        while not self._is_up:
            self._hear(None)
            self._require_connection()

    def say(self, lines: str) -> None:
        """Send lines to the program. Raises LineLost."""
        self._require_connection()
        self._send({"say": lines})

    def line(self, deadline_ns: int) -> bytes | None:
        """Return the next line of the program; None at the deadline. Raises LineLost and ProgramGone."""
        while not self._lines:
            self._require_connection()
            if self._gone is not None:
                raise ProgramGone(self._gone)
            if not self._hear(deadline_ns):
                return None
        line, self.arrived_ns = self._lines.popleft()
        return line

    def check(self, since_ns: int) -> float:
        """Request a round trip; return the longest one since the moment `since_ns`, in milliseconds. Raises LineLost.

        When this returns, all output that the program wrote before the check has arrived.
        """
        self._require_connection()
        # An answer may be left from a check that the loss of the connection interrupted.
        self._checked_ms.clear()
        self._send({"check": since_ns})
        # Without a deadline: a connection whose pings are not answered is lost after a while (`Lobby`), which ends the
        # wait.
        while not self._checked_ms:
            self._hear(None)
            self._require_connection()
        return self._checked_ms.popleft()

    def _require_connection(self) -> None:
        if self._lost_ns is not None:
            raise LineLost(self._lost_ns)

    def returns(self, deadline_ns: int) -> bool:
        """Wait until the lost connection is back; return False at the deadline."""
        while not self._is_back:
            if not self._hear(deadline_ns):
                return False
        self._is_back = False
        return True

    # -- from the lobby ------------------------------------------------------------------------------------------------

    def _hear(self, deadline_ns: int | None) -> bool:
        """Receive the next messages from the lobby; return False at the deadline."""
        # Rounded up, so that a wait never ends just before its deadline.
        left_ms = None if deadline_ns is None else max(0, -((time.monotonic_ns() - deadline_ns) // _MS))
        events = self._poll.poll(left_ms)
        if any(descriptor == self._stop_fd for descriptor, _ in events):
            raise Stopped
        if not events:
            return False
        try:
            # A reset connection means the same as a closed one: the lobby is gone.
            data = self._socket.recv(_CHUNK)
        except OSError:
            data = b""
        if not data:
            raise SandboxError("the lobby for remote bots is gone")
        now = time.monotonic_ns()
        *whole, self._rest = (self._rest + data).split(b"\n")
        for part in whole:
            with contextlib.suppress(KeyError, TypeError, ValueError):
                self._take(json.loads(part), now)
        return True

    def _take(self, message: Mapping[str, Any], now_ns: int) -> None:
        match message:
            case {"line": text}:
                self._lines.append((str(text).encode(), now_ns))
            case {"latency": [usual, longest]}:
                self.latency_ms, self.longest_ms = float(usual), float(longest)
            case {"checked": longest}:
                self._checked_ms.append(float(longest))
            case {"down": since}:
                self._lost_ns, self._is_back = int(since), False
            case {"gone": how}:
                self._gone = str(how)
            case {"up": _}:
                self._is_up = True
            case {"back": _}:
                self._is_back = True
            case {"terms": terms}:
                self.terms = LinkAllowance(**terms)
