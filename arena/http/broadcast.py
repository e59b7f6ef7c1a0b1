"""Broadcast one subject to all its subscribers: query and serialise each update once, as NDJSON or server-sent events.

A `Source` supplies the lines. It is queried when the subject's bell, an event of `arena.events.live`, is set.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cachetools import TTLCache

from arena.errors import StoreError
from arena.events.messages import Subject
from arena.http.problem import Problem, as_json

if TYPE_CHECKING:
    from arena.events.live import Live

NDJSON = "application/x-ndjson"
SSE = "text/event-stream"
FORMS = {NDJSON: "one event per line", SSE: "server-sent events; `id` is `seq`, `data` the same document"}
KEEP_ALIVE = {NDJSON: b"\n", SSE: b": keep-alive\n\n"}
"""Empty messages that keep proxies from closing an idle stream."""
KEEP_ALIVE_INTERVAL_S = 10.0
"""Time without a line after which `KEEP_ALIVE` is sent: nginx closes a connection that is silent for 60 s."""
MAX_PENDING_BYTES = 64 * 1024
"""Bytes that may wait for a subscriber, here and again in the kernel's buffer, before the subscriber is dropped."""
MAX_KEPT_LINES = 256
"""Latest lines that a broadcast keeps for clients that are about to join: without them, clients that join while lines
come fast would have to query again and again.
"""
STATE_TTL_S = 2.0
"""Time for which a full state is kept for those who come next: thousands may come within a minute."""
MIN_QUERY_INTERVAL_S = 0.2
"""Minimum time between two queries of a source, so that a burst of results comes as one batch."""


@dataclass(frozen=True, slots=True)
class StreamLine:
    """One event. `seq` increases; a client resumes after the last one it has received."""

    event: str
    seq: int
    data: dict[str, Any]


def encode_line(line: StreamLine, form: str) -> bytes:
    """Encode a line as NDJSON, or as a server-sent event with its `seq` as id, from which browsers resume."""
    text = as_json({"event": line.event, "seq": line.seq, **line.data})
    if form == NDJSON:
        return text.encode() + b"\n"
    return f"id: {line.seq}\nevent: {line.event}\ndata: {text}\n\n".encode()


@dataclass(slots=True)
class Batch:
    """The lines that a query of a source returned. If `is_final`, no more will come."""

    lines: list[StreamLine] = field(default_factory=list)
    is_final: bool = False


Source = Callable[[int | None, bool], Awaitable[Batch]]
"""`source(after, is_timeout)` returns the lines after `after`, or the full state for None. After a timeout it must
query again.
"""


class Subscriber:
    """An open stream that has caught up with the broadcast. `cut` closes its connection if the client is too slow.

    If the client is ahead of the broadcast, `after` is the last `seq` that it has received; else it is None.
    """

    def __init__(self, form: str, after: int | None, cut: Callable[[], None]) -> None:
        self.form, self.after, self._cut = form, after, cut
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._has_pending = asyncio.Event()
        self._is_over = self._is_fault = False

    def send(self, data: bytes) -> None:
        """Queue data without blocking; drop the subscriber if too much is pending."""
        self._pending.append(data)
        self._pending_bytes += len(data)
        if self._pending_bytes > MAX_PENDING_BYTES:
            self.end(is_fault=True)
            self._cut()
        self._has_pending.set()

    def end(self, *, is_fault: bool = False) -> None:
        """End the stream after the pending data."""
        self._is_over, self._is_fault = True, self._is_fault or is_fault
        self._has_pending.set()

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield the pending data until the stream ends. Raises ConnectionResetError if it ends abnormally."""
        while True:
            if self._pending:
                data = b"".join(self._pending)
                self._pending.clear()
                self._pending_bytes = 0
                yield data
            elif self._is_fault:
                raise ConnectionResetError("the broadcast has ended, or the subscriber is too slow")
            elif self._is_over:
                return
            else:
                self._has_pending.clear()
                await self._has_pending.wait()


@dataclass(frozen=True, slots=True)
class BroadcastLine:
    """A line with the number of its batch. If `is_repeat`, an earlier line had the same `seq`."""

    batch_number: int
    line: StreamLine
    is_repeat: bool

    def is_new(self, after: int) -> bool:
        """Return whether the line is new to a client that has received everything up to `after`."""
        return self.is_repeat or self.line.seq > after


@dataclass(frozen=True, slots=True)
class BroadcastPosition:
    """Position of a broadcast at some moment: the number of its latest batch, and the last `seq` that it had sent."""

    batch_number: int
    seq: int


@dataclass(frozen=True, slots=True)
class EncodedLines:
    """The lines that a client lacks, up to `seq`, queried when the broadcast was at a `position`."""

    data: bytes
    seq: int
    position: BroadcastPosition
    is_final: bool = False


class Broadcasts(dict[Subject, "Broadcast"]):
    """The broadcasts of a web process by subject. The event `closing` ends them all."""

    def __init__(self, live: Live, closing: asyncio.Event) -> None:
        super().__init__()
        self.live, self.closing = live, closing


class Broadcast:
    """One subject, broadcast to all its subscribers: each update is queried and serialised once.

    The latest lines are kept, so that a client that queries the source and then joins misses nothing sent in between.
    """

    def __init__(self, broadcasts: Broadcasts, subject: Subject, source: Source) -> None:
        self._broadcasts, self._subject, self._source = broadcasts, subject, source
        self._subscribers: set[Subscriber] = set()
        self._after = 0
        self._is_querying = False
        self._states: TTLCache[str, EncodedLines] = TTLCache(len(FORMS), STATE_TTL_S)
        self._recent: deque[BroadcastLine] = deque()
        self._kept_since = 0  # later batches are in `_recent`
        self._batch_number = 0
        self._task: asyncio.Task[None] | None = None
        self._subscription = ExitStack()
        # Subscribe at once: changes between the first query and the first wait must not be lost.
        self._bell = self._subscription.enter_context(broadcasts.live.changes(subject))
        self.is_over = False

    def __len__(self) -> int:
        return len(self._subscribers)

    def __bool__(self) -> bool:
        return True  # else `len` makes a broadcast without subscribers false

    def __enter__(self) -> Broadcast:
        return self

    def __exit__(self, *_: object) -> None:
        if self._task is None:  # no client has joined
            self._end()

    @property
    def position(self) -> BroadcastPosition:
        """Current position. A client that reads it, then queries the source, and then joins misses nothing."""
        return BroadcastPosition(self._batch_number, self._after)

    async def missing(self, form: str, after: int | None) -> EncodedLines:
        """Return the lines that a client lacks, given the `seq` of its last one; None for a client without any."""
        state = self._states.get(form) if after is None else None
        if state and state.position.batch_number >= self._kept_since:  # the lines since then are kept too
            return state
        position = self.position
        batch = await self._source(after, False)
        data = b"".join(encode_line(line, form) for line in batch.lines)
        lines = EncodedLines(data, batch.lines[-1].seq if batch.lines else after or 0, position, batch.is_final)
        if after is None and not batch.is_final:
            self._states[form] = lines
        return lines

    def join(self, form: str, after: int, since: BroadcastPosition, cut: Callable[[], None]) -> Subscriber | None:
        """Add a client that first read the position `since`, and then received all lines up to `after` from the source.

        Return None if the client must query the source again.
        """
        if self.is_over:
            return None
        if self._broadcasts.setdefault(self._subject, self) is not self:
            self._end()  # another request has started one
            return None
        # The answer of a query under way belongs to the present position, which must not move meanwhile.
        if not self._subscribers and not self._is_querying:
            self._begin(after)
        elif since.batch_number < self._kept_since or after < since.seq:
            return None
        subscriber = Subscriber(form, after, cut)
        self._subscribers.add(subscriber)
        self._send_missing(subscriber, [sent for sent in self._recent if sent.batch_number > since.batch_number])
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return subscriber

    def _begin(self, after: int) -> None:
        """Start after the line numbered `after`; clients that queried earlier must query again."""
        self._batch_number += 1
        self._after, self._kept_since = after, self._batch_number
        self._recent.clear()

    def leave(self, subscriber: Subscriber) -> None:
        """Unsubscribe; the broadcast ends with its last subscriber."""
        self._subscribers.discard(subscriber)
        if not self._subscribers:
            self._bell.set()

    async def refresh(self) -> None:
        """Set the bell, so that the source is queried, and wait for the minimum interval between two queries."""
        self._bell.set()
        await asyncio.sleep(MIN_QUERY_INTERVAL_S)

    async def _run(self) -> None:
        closing = self._broadcasts.closing
        try:
            while self._subscribers and not closing.is_set():
                is_timeout = not await _wait_for_bell(self._bell, closing)
                if is_timeout:
                    self._send(KEEP_ALIVE, self._subscribers)
                if not self._subscribers or closing.is_set():
                    break
                self._is_querying = True
                batch = await self._source(self._after, is_timeout)
                self._is_querying = False
                if batch.lines:
                    self._send_lines(batch.lines)
                if batch.is_final:
                    break
            for subscriber in self._subscribers:
                subscriber.end()
            self._subscribers.clear()
        except (StoreError, Problem):
            pass
        finally:
            for subscriber in self._subscribers:  # only after an error: clients resume with ?after=
                subscriber.end(is_fault=True)
            self._end()

    def _send_lines(self, lines: Sequence[StreamLine]) -> None:
        """Send a batch to all subscribers, and keep it for clients that are about to join."""
        if lines[0].seq < self._after:  # the source has started again, so earlier positions are void
            self._begin(lines[0].seq)
            for subscriber in self._subscribers:
                subscriber.after = None
        self._batch_number += 1
        batch: list[BroadcastLine] = []
        for line in lines:
            batch.append(BroadcastLine(self._batch_number, line, line.seq <= self._after))
            self._after = line.seq
        self._recent.extend(batch)
        while len(self._recent) > MAX_KEPT_LINES:
            self._kept_since = self._recent.popleft().batch_number
        caught_up = [subscriber for subscriber in self._subscribers if subscriber.after is None]
        ahead = self._subscribers.difference(caught_up)
        forms = {subscriber.form for subscriber in caught_up}
        self._send({form: b"".join(encode_line(line, form) for line in lines) for form in forms}, caught_up)
        for subscriber in ahead:
            self._send_missing(subscriber, batch)

    def _send_missing(self, subscriber: Subscriber, batch: Sequence[BroadcastLine]) -> None:
        """Send a recent subscriber the lines that it has not received yet."""
        after = subscriber.after or 0
        if data := b"".join(encode_line(sent.line, subscriber.form) for sent in batch if sent.is_new(after)):
            subscriber.send(data)
        subscriber.after = after if after > self._after else None

    def _send(self, texts: Mapping[str, bytes], subscribers: Collection[Subscriber]) -> None:
        for subscriber in subscribers:
            if subscriber.form in texts:
                subscriber.send(texts[subscriber.form])

    def _end(self) -> None:
        self.is_over = True
        self._subscription.close()
        if self._broadcasts.get(self._subject) is self:
            del self._broadcasts[self._subject]


async def _wait_for_bell(bell: asyncio.Event, closing: asyncio.Event) -> bool:
    """Wait until the bell is set or the server shuts down. Return False if the keep-alive interval ends first."""
    if bell.is_set():
        # It rang during the last query: one more query for all that comes in this time, not one for each change.
        await asyncio.sleep(MIN_QUERY_INTERVAL_S)
    waits = [asyncio.ensure_future(bell.wait()), asyncio.ensure_future(closing.wait())]
    try:
        done, _ = await asyncio.wait(waits, timeout=KEEP_ALIVE_INTERVAL_S, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    bell.clear()
    return bool(done)
