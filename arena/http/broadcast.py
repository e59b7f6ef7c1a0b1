"""What is told of one subject to all its listeners: looked at and put into words once for all.

Refuses to know what there is to say: a `Source` tells it when the bell of the subject has rung.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from arena.events.messages import Subject
from arena.http.problem import Problem
from arena.http.stream_line import KEEP_ALIVE, StreamLine, encode_line
from arena.store import StoreError

if TYPE_CHECKING:
    from arena.events.live import Live

KEEP_ALIVE_INTERVAL_S = 10.0
MAX_WAITING_BYTES = 64 * 1024
"""What may wait for a listener, here and again in the system's buffer, before it is dropped."""
MAX_KEPT_LINES = 256
"""How many lines a feed keeps for those who are about to join it."""
MIN_QUERY_INTERVAL_S = 0.2
"""The shortest time between two looks at the source: many results in a row come as one batch."""


@dataclass(slots=True)
class Batch:
    """What a source has to say after some `seq`."""

    lines: list[StreamLine] = field(default_factory=list)
    is_final: bool = False


Source = Callable[[int | None, bool], Awaitable[Batch]]
"""`source(after, is_timeout)`: the lines behind `after`, the full state for None; after a timeout, freshly read."""


class Subscriber:
    """One open stream that has heard everything so far; `cut` ends its connection when it is too slow.

    `after` is not None while it has heard more than its feed has told.
    """

    def __init__(self, form: str, after: int | None, cut: Callable[[], None]) -> None:
        self.form, self.after, self._cut = form, after, cut
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._has_news = asyncio.Event()
        self._is_over = self._is_fault = False

    def tell(self, data: bytes) -> None:
        """Queue without waiting. A listener that has not taken what it was sent is dropped."""
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes > MAX_WAITING_BYTES:
            self.end(is_fault=True)
            self._cut()
        self._has_news.set()

    def end(self, *, is_fault: bool = False) -> None:
        """Tell nothing more."""
        self._is_over, self._is_fault = True, self._is_fault or is_fault
        self._has_news.set()

    async def news(self) -> AsyncIterator[bytes]:
        """What it is told, until the end. Raises ConnectionResetError when that is not the stream's own."""
        while True:
            if self._waiting:
                data = b"".join(self._waiting)
                self._waiting.clear()
                self._waiting_bytes = 0
                yield data
            elif self._is_fault:
                raise ConnectionResetError("the feed has ended, or the listener does not keep up")
            elif self._is_over:
                return
            else:
                self._has_news.clear()
                await self._has_news.wait()


@dataclass(frozen=True, slots=True)
class BroadcastLine:
    """A line of a feed, and the turn in which it was told. A repeat is news about a `seq` that was told before."""

    turn: int
    line: StreamLine
    is_repeat: bool

    def is_new(self, after: int) -> bool:
        """Whether it is, to somebody who has heard everything up to that `seq`."""
        return self.is_repeat or self.line.seq > after


@dataclass(frozen=True, slots=True)
class BroadcastPosition:
    """Where a feed was at some moment: its turn, and the `seq` it had told."""

    turn: int
    seq: int


class Broadcasts(dict[Subject, "Broadcast"]):
    """What a process tells its listeners just now, by its subject. `closing` ends them all."""

    def __init__(self, live: Live, closing: asyncio.Event) -> None:
        super().__init__()
        self.live, self.closing = live, closing


class Broadcast:
    """What is told of one subject to all its listeners: looked at and put into words once for all.

    It keeps its last lines, so that whoever looks for himself and then joins misses nothing that was told meanwhile.
    """

    def __init__(self, broadcasts: Broadcasts, subject: Subject, source: Source) -> None:
        self._feeds, self._subject, self._source = broadcasts, subject, source
        self._listeners: set[Subscriber] = set()
        self._after = 0
        self._is_looking = False
        self._recent: deque[BroadcastLine] = deque()
        self._kept_since = 0  # what was told in later turns is in `_recent`
        self._turn = 0
        self._task: asyncio.Task[None] | None = None
        self._ringing = ExitStack()
        # From now on: nothing between the first look and the first wait is lost.
        self._bell = self._ringing.enter_context(broadcasts.live.bell(subject))
        self.is_over = False

    def __len__(self) -> int:
        return len(self._listeners)

    def __bool__(self) -> bool:
        return True  # without listeners it is a feed too

    def __enter__(self) -> Broadcast:
        return self

    def __exit__(self, *_: object) -> None:
        if self._task is None:  # nobody has joined it
            self._end()

    @property
    def mark(self) -> BroadcastPosition:
        """Where it is. Whoever looks at the source after that and then joins has missed nothing."""
        return BroadcastPosition(self._turn, self._after)

    def join(self, form: str, after: int, mark: BroadcastPosition, cut: Callable[[], None]) -> Subscriber | None:
        """Listen from behind `after`, which was looked up after `mark`; None: look again."""
        if self.is_over:
            return None
        if self._feeds.setdefault(self._subject, self) is not self:
            self._end()  # somebody else was faster
            return None
        if not self._listeners and not self._is_looking:
            self._begin(after)
        elif mark.turn < self._kept_since or after < mark.seq:
            return None
        listener = Subscriber(form, after, cut)
        self._listeners.add(listener)
        self._tell_one(listener, [told for told in self._recent if told.turn > mark.turn])
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return listener

    def _begin(self, after: int) -> None:
        """Tell from behind `after` on; who looked before that looks again."""
        self._turn += 1
        self._after, self._kept_since = after, self._turn
        self._recent.clear()

    def leave(self, listener: Subscriber) -> None:
        """Listen no more; the feed ends with its last listener."""
        self._listeners.discard(listener)
        if not self._listeners:
            self._bell.set()

    async def look(self) -> None:
        """Have the feed look at its source now, and give it the time to."""
        self._bell.set()
        await asyncio.sleep(MIN_QUERY_INTERVAL_S)

    async def _run(self) -> None:
        closing = self._feeds.closing
        try:
            while self._listeners and not closing.is_set():
                is_timeout = not await _rung(self._bell, closing)
                if is_timeout:
                    self._tell(KEEP_ALIVE, self._listeners)
                if not self._listeners or closing.is_set():
                    break
                self._is_looking = True
                batch = await self._source(self._after, is_timeout)
                self._is_looking = False
                if batch.lines:
                    self._tell_lines(batch.lines)
                if batch.is_final:
                    break
            for listener in self._listeners:
                listener.end()
            self._listeners.clear()
        except (StoreError, Problem):
            pass
        finally:
            for listener in self._listeners:  # a fault: they come back with ?after=
                listener.end(is_fault=True)
            self._end()

    def _tell_lines(self, lines: Sequence[StreamLine]) -> None:
        """Tell a batch to everybody, and keep it for those who are about to join."""
        if lines[0].seq < self._after:  # the source has begun again: nobody is ahead, and what was told counts no more
            self._begin(lines[0].seq)
            for listener in self._listeners:
                listener.after = None
        self._turn += 1
        batch: list[BroadcastLine] = []
        for line in lines:
            batch.append(BroadcastLine(self._turn, line, line.seq <= self._after))
            self._after = line.seq
        self._recent.extend(batch)
        while len(self._recent) > MAX_KEPT_LINES:
            self._kept_since = self._recent.popleft().turn
        level = [listener for listener in self._listeners if listener.after is None]
        ahead = self._listeners.difference(level)
        forms = {listener.form for listener in level}
        self._tell({form: b"".join(encode_line(line, form) for line in lines) for form in forms}, level)
        for listener in ahead:
            self._tell_one(listener, batch)

    def _tell_one(self, listener: Subscriber, batch: Sequence[BroadcastLine]) -> None:
        """Tell a listener that joined a moment ago what it has not heard yet."""
        after = listener.after or 0
        if data := b"".join(encode_line(told.line, listener.form) for told in batch if told.is_new(after)):
            listener.tell(data)
        listener.after = after if after > self._after else None

    def _tell(self, texts: Mapping[str, bytes], listeners: Collection[Subscriber]) -> None:
        for listener in listeners:
            if listener.form in texts:
                listener.tell(texts[listener.form])

    def _end(self) -> None:
        self.is_over = True
        self._ringing.close()
        if self._feeds.get(self._subject) is self:
            del self._feeds[self._subject]


async def _rung(bell: asyncio.Event, closing: asyncio.Event) -> bool:
    """Wait for the bell or the end of the server; False after the time of a keep-alive."""
    if bell.is_set():
        await asyncio.sleep(MIN_QUERY_INTERVAL_S)
    waits = [asyncio.ensure_future(bell.wait()), asyncio.ensure_future(closing.wait())]
    try:
        done, _ = await asyncio.wait(waits, timeout=KEEP_ALIVE_INTERVAL_S, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    bell.clear()
    return bool(done)
