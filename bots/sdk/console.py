"""The bot's end of the pipes: lines from the referee in, lines to it out, and a thread that never stops listening.

While the bot thinks, that thread answers `isready` and ends the search at `stop`, `quit` and the end of the input;
every other line waits its turn.
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
"""The longest line accepted from a referee: a `position` with some hundred thousand moves."""
CHUNK_BYTES = 65536
QUIT_TIMEOUT_S = 2.0
"""How long a bot may take to notice that it is to leave."""


class Console:
    """Two file descriptors. With `leaves`, a bot that does not notice that it is to leave has its process ended."""

    def __init__(self, source: int = 0, sink: int = 1, *, leaves: bool = False) -> None:
        self._source = source
        self._sink = sink
        self._leaves = leaves
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[RefereeMessage | None] = queue.SimpleQueue()
        self._done = threading.Event()
        self._clock: Clock | None = None
        self.received_at = time.monotonic()
        """When the last lines came."""
        self._asked = 0
        """How many `go` were read, and answered: the bot thinks while they differ."""
        self._answered = 0
        self._stopped = 0
        """Up to which `go` a `stop` counts: it may be read before the bot has begun."""
        self._timer: threading.Timer | None = None
        self._ended = False

    def start(self) -> None:
        """Begin to listen."""
        threading.Thread(target=self._listen, name="listener", daemon=True).start()

    def receive(self) -> RefereeMessage | None:
        """The next message, in order; None when it is time to leave."""
        return self._waiting.get()

    def send(self, *messages: BotMessage) -> None:
        """Write messages, each a line, in one go. Raises OSError when the referee is gone."""
        data = "".join(f"{message}\n" for message in messages).encode("utf-8", "replace")
        with self._lock:
            while data:
                data = data[os.write(self._sink, data) :]

    def report_error(self, problem: object) -> None:
        """Say on the wire that something of the referee's cannot be: `info string error …`."""
        self.send(Info(text="error " + " ".join(str(problem).split())))

    def begin(self, clock: Clock) -> None:
        """The bot begins to think about the `go` it received last."""
        self._clock = clock
        if self._stopped > self._answered:
            clock.stop()
        elif self._ended:
            self._stop_later(clock)

    def end(self) -> None:
        """The bot has answered."""
        self._clock = None
        self._answered += 1
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """The bot has left its loop in time."""
        self._done.set()

    def _listen(self) -> None:
        splitter = LineSplitter(LINE_BYTES)
        while True:
            try:
                data = os.read(self._source, CHUNK_BYTES)
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
        """Act on a line or put it in the queue; False after `quit`."""
        try:
            message = parse_referee_line(line)
        except BadLine as error:
            self.report_error(error)
            return True
        match message:
            case IsReady() if self._asked > self._answered:
                self.send(ReadyOk())
            case Stop():
                self._stop_asked()
            case Quit():
                self._waiting.put(None)
                self._stop_asked()
                if self._leaves and not self._done.wait(QUIT_TIMEOUT_S):
                    os._exit(0)
                return False
            case _:
                if isinstance(message, Go):
                    self._asked += 1
                self._waiting.put(message)
        return True

    def _end_after_input(self) -> None:
        """After the end of the input: a bot may finish what was asked, but not think about one move for ever."""
        before = None
        while self._leaves and not self._done.wait(QUIT_TIMEOUT_S + EOF_GRACE_MS / 1000):
            if self._clock is not None and self._clock is before:
                os._exit(0)
            before = self._clock

    def _stop_asked(self) -> None:
        self._stopped = self._asked
        clock = self._clock
        if clock is not None:
            clock.stop()

    def _stop_later(self, clock: Clock) -> None:
        self._timer = threading.Timer(EOF_GRACE_MS / 1000, clock.stop)
        self._timer.daemon = True
        self._timer.start()
