"""The bot's end of the pipes: reads lines of the referee, writes lines to it, with a thread that always listens.

While the bot thinks, that thread answers `isready` and ends the search at `stop`, `quit` and the end of the input. All
other lines are queued.
"""

from __future__ import annotations

import os
import queue
import threading
import time

from bots.sdk.clock import EOF_GRACE_MS, Clock
from protocol.errors import BadLine, LineTooLong
from protocol.lines import LineSplitter
from protocol.messages import BotMessage, Go, Info, IsReady, Quit, ReadyOk, RefereeMessage, Stop
from protocol.parser import parse_referee_line

LINE_BYTES = 2**20
"""Longest line accepted from a referee: a `position` with some hundred thousand moves."""
CHUNK_BYTES = 65536
_STDIN, _STDOUT = 0, 1
QUIT_TIMEOUT_S = 2.0
"""Time a bot has to end after `quit`."""


class Console:
    """The input and output of a bot. The process exits even if the bot does not end in time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[RefereeMessage | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._clock: Clock | None = None
        self.received_at = time.monotonic()
        """When the last lines arrived."""
        self._received_gos = 0
        """Numbers of `go` read, and answered: the bot thinks while they differ."""
        self._answered_gos = 0
        self._stopped_gos = 0
        """Number of the last `go` that was stopped. A `stop` may be read before the bot has begun to think."""
        self._timer: threading.Timer | None = None
        self._ended = False

    def start(self) -> None:
        """Start the listener thread."""
        threading.Thread(target=self._listen, name="listener", daemon=True).start()

    def receive(self) -> RefereeMessage | None:
        """Return the next message, in order; None if the bot has to end."""
        return self._waiting.get()

    def send(self, *messages: BotMessage) -> None:
        """Write messages, each a line, in one go. Raises OSError if the referee is gone."""
        data = "".join(f"{message}\n" for message in messages).encode("utf-8", "replace")
        with self._lock:
            while data:
                data = data[os.write(_STDOUT, data) :]

    def report_error(self, problem: object) -> None:
        """Report an invalid line to the referee that sent it: `info string error …`."""
        self.send(Info(text="error " + " ".join(str(problem).split())))

    def begin(self, clock: Clock) -> None:
        """Register the clock of the search that the last `go` started: from now on `stop` ends that search."""
        self._clock = clock
        if self._stopped_gos > self._answered_gos:
            clock.stop()
        elif self._ended:
            self._stop_later(clock)

    def end(self) -> None:
        """Mark the search as finished: the bot has answered."""
        self._clock = None
        self._answered_gos += 1
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """Note that the main loop has ended, so that the listener thread does not force an exit."""
        self._closed.set()

    def _listen(self) -> None:
        splitter = LineSplitter(LINE_BYTES)
        while True:
            try:
                data = os.read(_STDIN, CHUNK_BYTES)
            except OSError:
                data = b""
            if not data:
                break
            self.received_at = time.monotonic()
            try:
                lines = splitter.feed(data)
            except LineTooLong as error:
                self.report_error(error)
                lines = error.complete + splitter.feed(b"")
            for line in lines:
                if not self._handle_line(line):
                    return
        self._ended = True
        if self._clock is not None:
            self._stop_later(self._clock)
        self._waiting.put(None)
        self._end_after_input()

    def _handle_line(self, line: bytes) -> bool:
        """Act on a line or queue it; return False after `quit`."""
        try:
            message = parse_referee_line(line)
        except BadLine as error:
            self.report_error(error)
            return True
        match message:
            # The main loop is busy with the search, and the referee may ask meanwhile.
            case IsReady() if self._received_gos > self._answered_gos:
                self.send(ReadyOk())
            case Stop():
                self._stop_search()
            case Quit():
                self._waiting.put(None)
                self._stop_search()
                if not self._closed.wait(QUIT_TIMEOUT_S):
                    os._exit(0)
                return False
            case _:
                if isinstance(message, Go):
                    self._received_gos += 1
                self._waiting.put(message)
        return True

    def _end_after_input(self) -> None:
        """Force an exit after the end of the input if the bot makes no progress. It may still answer every `go` that
        was read before.
        """
        before = None
        while not self._closed.wait(QUIT_TIMEOUT_S + EOF_GRACE_MS / 1000):
            if self._clock is not None and self._clock is before:
                os._exit(0)
            before = self._clock

    def _stop_search(self) -> None:
        self._stopped_gos = self._received_gos
        clock = self._clock
        if clock is not None:
            clock.stop()

    def _stop_later(self, clock: Clock) -> None:
        self._timer = threading.Timer(EOF_GRACE_MS / 1000, clock.stop)
        self._timer.daemon = True
        self._timer.start()
