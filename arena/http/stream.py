"""Streams of events, one JSON document a line (NDJSON) or as server-sent events: state, changes with `seq`, final.

A cut stream goes on behind `?after=<seq>` or `Last-Event-ID`. A blank line (a comment in SSE) every ten seconds keeps
proxies from hanging up. Refuses to know what the events say: a `Source` tells it.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from arena.http.call import Call, Services
from arena.http.problem import Problem
from arena.store import StoreError

NDJSON = "application/x-ndjson"
SSE = "text/event-stream"
FORMS = {NDJSON: "one event a line", SSE: "server-sent events; `id` is `seq`, `data` the same document"}
KEEP_ALIVE_S = 10.0
MAX_WAITING_BYTES = 64 * 1024
"""What a listener may leave unread, here and again in the system's buffer, before it is dropped."""
SLOW_S = 30.0
"""How long a listener may take to read what came before it."""
KEPT_LINES = 256
"""How many lines a feed keeps for those who are about to join it."""
PAUSE_S = 0.2
"""The shortest time between two looks at the source: many results in a row come as one batch."""
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Vary": "Accept"}


@dataclass(frozen=True, slots=True)
class Line:
    """One event. `seq` grows; a client that has seen it goes on behind it."""

    event: str
    seq: int
    data: dict[str, Any]


@dataclass(slots=True)
class Batch:
    """What a source has to say after some `seq`."""

    lines: list[Line] = field(default_factory=list)
    is_final: bool = False


Source = Callable[[int | None, bool], Awaitable[Batch]]
"""`source(after, is_timeout)`: the lines behind `after`, the full state for None; after a timeout, freshly read."""


def place(call: Call, after: int | None) -> int | None:
    """Where a client wants to go on: `?after=`, else `Last-Event-ID`. Raises Problem."""
    text = call.request.headers.get("Last-Event-ID", "")
    if after is not None or not text:
        return after
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise Problem("invalid", "Last-Event-ID is not a number", field="Last-Event-ID", hint="send an `id` of ours")
    return int(text)


async def follow(call: Call, key: str, after: int | None, source: Source) -> web.StreamResponse:
    """Answer with the stream of a source, looked at whenever the bell `key` rings.

    What came before is told to each listener by itself and at its own pace; then it joins the feed of the key.
    """
    form = call.accepts(NDJSON, SSE)
    services = call.services
    with opened(call), ExitStack() as own:

        def find() -> Feed:
            return services.feeds.get(key) or own.enter_context(Feed(services, key, source))

        feed = find()
        mark = feed.mark
        batch = await source(after, False)  # problems are still an answer of their own
        response = web.StreamResponse(headers={**_HEADERS, "Content-Type": f"{form}; charset=utf-8"})
        await response.prepare(call.request)
        try:
            while call.request.method != "HEAD":
                if data := b"".join(written(line, form) for line in batch.lines):
                    await asyncio.wait_for(response.write(data), SLOW_S)
                    after = batch.lines[-1].seq
                if batch.is_final or services.closing.is_set():
                    break
                if listener := feed.join(call.request, response, form, after or 0, mark):
                    try:
                        await listener.done
                    finally:
                        feed.leave(listener)
                    break
                if not batch.lines:  # the source has begun again, and the feed has not seen it yet
                    feed.look()
                    await asyncio.sleep(PAUSE_S)
                feed = find()
                mark = feed.mark
                batch = await source(after, False)
            await response.write_eof()
        except (ConnectionError, TimeoutError):
            _cut(call.request)  # gone, or too slow; it comes back with ?after=
        return response


def _cut(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()


@dataclass(slots=True, eq=False)
class Listener:
    """One open stream that has heard everything so far. `done` ends it: with an error if it was too slow or is gone.

    `after` is not None while it has heard more than its feed has told.
    """

    transport: asyncio.Transport
    form: str
    is_chunked: bool
    done: asyncio.Future[None]
    after: int | None

    def tell(self, data: bytes, chunk: bytes) -> None:
        """Send without waiting. A listener that has not taken what it was sent is dropped, not waited for."""
        if self.done.done():
            return
        if self.transport.is_closing() or self.transport.get_write_buffer_size() > MAX_WAITING_BYTES:
            self.done.set_exception(ConnectionResetError("a listener is gone, or does not keep up"))
        else:
            self.transport.write(chunk if self.is_chunked else data)


@dataclass(frozen=True, slots=True)
class Told:
    """A line of a feed, and the turn in which it was told. A repeat is news about a `seq` that was told before."""

    turn: int
    line: Line
    is_repeat: bool

    def is_new(self, after: int) -> bool:
        """Whether it is, to somebody who has heard everything up to that `seq`."""
        return self.is_repeat or self.line.seq > after


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a feed was at some moment: its turn, and the `seq` it had told."""

    turn: int
    seq: int


class Feed:
    """What is told of one subject to all its listeners: looked at and put into words once for all.

    It keeps its last lines, so that whoever looks for himself and then joins misses nothing that was told meanwhile.
    """

    def __init__(self, services: Services, key: str, source: Source) -> None:
        self._services, self._key, self._source = services, key, source
        self._listeners: set[Listener] = set()
        self._after = 0
        self._is_looking = False
        self._recent: deque[Told] = deque()
        self._kept_since = 0  # what was told in later turns is in `_recent`
        self._turn = 0
        self._task: asyncio.Task[None] | None = None
        self._ringing = ExitStack()
        # From now on: nothing between the first look and the first wait is lost.
        self._bell = self._ringing.enter_context(services.live.bell(key))
        self.is_over = False

    def __len__(self) -> int:
        return len(self._listeners)

    def __bool__(self) -> bool:
        return True  # without listeners it is a feed too

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *_: object) -> None:
        if self._task is None:  # nobody has joined it
            self._end()

    @property
    def mark(self) -> Mark:
        """Where it is. Whoever looks at the source after that and then joins has missed nothing."""
        return Mark(self._turn, self._after)

    def join(
        self, request: web.Request, response: web.StreamResponse, form: str, after: int, mark: Mark
    ) -> Listener | None:
        """Listen from behind `after`, which was looked up after `mark`; None: look again."""
        if self.is_over:
            return None
        if self._services.feeds.setdefault(self._key, self) is not self:
            self._end()  # somebody else was faster
            return None
        if not self._listeners and not self._is_looking:
            self._begin(after)
        elif mark.turn < self._kept_since or after < mark.seq:
            return None
        transport = request.transport
        if transport is None:
            raise ConnectionResetError("the listener has gone")
        if (plug := transport.get_extra_info("socket")) is not None:
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_WAITING_BYTES)  # nor may the system hold much
        is_chunked = response.headers.get("Transfer-Encoding") == "chunked"
        listener = Listener(transport, form, is_chunked, asyncio.get_running_loop().create_future(), after)
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

    def leave(self, listener: Listener) -> None:
        """Listen no more; the feed ends with its last listener."""
        self._listeners.discard(listener)
        if not self._listeners:
            self._bell.set()

    def look(self) -> None:
        """Have the feed look at its source now."""
        self._bell.set()

    async def _run(self) -> None:
        closing = self._services.closing
        try:
            while self._listeners and not closing.is_set():
                is_timeout = not await _rung(self._bell, closing)
                if is_timeout:
                    self._tell({NDJSON: b"\n", SSE: b": keep-alive\n\n"}, self._listeners)
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
                if not listener.done.done():
                    listener.done.set_result(None)
        except (StoreError, Problem):
            pass
        finally:
            for listener in self._listeners:  # a fault: they come back with ?after=
                if not listener.done.done():
                    listener.done.set_exception(ConnectionResetError("the feed has ended"))
            self._end()

    def _tell_lines(self, lines: Sequence[Line]) -> None:
        """Tell a batch to everybody, and keep it for those who are about to join."""
        if lines[0].seq < self._after:  # the source has begun again: nobody is ahead, and what was told counts no more
            self._begin(lines[0].seq)
            for listener in self._listeners:
                listener.after = None
        self._turn += 1
        batch: list[Told] = []
        for line in lines:
            batch.append(Told(self._turn, line, line.seq <= self._after))
            self._after = line.seq
        self._recent.extend(batch)
        while len(self._recent) > KEPT_LINES:
            self._kept_since = self._recent.popleft().turn
        level = [listener for listener in self._listeners if listener.after is None]
        ahead = self._listeners.difference(level)
        forms = {listener.form for listener in level}
        self._tell({form: b"".join(written(line, form) for line in lines) for form in forms}, level)
        for listener in ahead:
            self._tell_one(listener, batch)

    def _tell_one(self, listener: Listener, batch: Sequence[Told]) -> None:
        """Tell a listener that joined a moment ago what it has not heard yet."""
        after = listener.after or 0
        if data := b"".join(written(told.line, listener.form) for told in batch if told.is_new(after)):
            listener.tell(data, _chunk(data))
        listener.after = after if after > self._after else None

    def _tell(self, texts: Mapping[str, bytes], listeners: Collection[Listener]) -> None:
        chunks = {form: _chunk(data) for form, data in texts.items()}
        for listener in listeners:
            if listener.form in texts:
                listener.tell(texts[listener.form], chunks[listener.form])

    def _end(self) -> None:
        self.is_over = True
        self._ringing.close()
        if self._services.feeds.get(self._key) is self:
            del self._services.feeds[self._key]


def _chunk(data: bytes) -> bytes:
    """As HTTP/1.1 frames a part of an answer of unknown length."""
    return b"%x\r\n%s\r\n" % (len(data), data)


class opened:  # noqa: N801 - a context manager, used as a word
    """A place among the open streams, for a `with`. Raises Problem (429) when there is none."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def __enter__(self) -> None:
        gate = self._call.services.streams
        if not gate.enter(self._call.key):
            raise Problem(
                "too-many",
                f"{gate.each} streams are open for you",
                hint="close one first",
                headers={"Retry-After": "10"},
                limit=gate.each,
            )
        self._call.services.metrics.streams.inc()

    def __exit__(self, *_: object) -> None:
        self._call.services.streams.leave(self._call.key)
        self._call.services.metrics.streams.dec()


async def _rung(bell: asyncio.Event, closing: asyncio.Event) -> bool:
    """Wait for the bell or the end of the server; False after the time of a keep-alive."""
    if bell.is_set():
        await asyncio.sleep(PAUSE_S)
    waits = [asyncio.ensure_future(bell.wait()), asyncio.ensure_future(closing.wait())]
    try:
        done, _ = await asyncio.wait(waits, timeout=KEEP_ALIVE_S, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    bell.clear()
    return bool(done)


def written(line: Line, form: str) -> bytes:
    """A line as it goes over the wire."""
    text = json.dumps({"event": line.event, "seq": line.seq, **line.data}, separators=(",", ":"), ensure_ascii=False)
    if form == NDJSON:
        return text.encode() + b"\n"
    return f"id: {line.seq}\nevent: {line.event}\ndata: {text}\n\n".encode()


async def export(call: Call, form: str, name: str, chunks: AsyncIterator[bytes]) -> web.StreamResponse:
    """Answer with a long file as it is made; the client's own pace is the throttle."""
    gate = call.services.exports
    if not gate.enter(call.key):
        raise Problem(
            "too-many", f"{gate.each} exports are running for you", headers={"Retry-After": "5"}, limit=gate.each
        )
    try:
        headers = {**_HEADERS, "Content-Type": f"{form}; charset=utf-8"}
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
        response = web.StreamResponse(headers=headers)
        response.enable_compression()
        await response.prepare(call.request)
        try:
            async for chunk in chunks:
                await response.write(chunk)
            await response.write_eof()
        except ConnectionError:
            pass
        return response
    finally:
        gate.leave(call.key)
