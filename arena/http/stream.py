"""Streams of events, one JSON document a line (NDJSON) or as server-sent events: state, changes with `seq`, final.

A cut stream goes on behind `?after=<seq>` or `Last-Event-ID`. A blank line (a comment in SSE) every ten seconds keeps
proxies from hanging up. Refuses to know what the events say: a `Source` tells it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from aiohttp import web

from arena.events.messages import Subject
from arena.http.broadcast import MAX_WAITING_BYTES, Broadcast, Source
from arena.http.problem import Problem
from arena.http.request_context import RequestContext
from arena.http.stream_line import NDJSON, SSE, encode_line

CATCH_UP_TIMEOUT_S = 30.0
"""How long a listener may take to read what came before it."""
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Vary": "Accept"}


def place(call: RequestContext, after: int | None) -> int | None:
    """Where a client wants to go on: `?after=`, else `Last-Event-ID`. Raises Problem."""
    text = call.request.headers.get("Last-Event-ID", "")
    if after is not None or not text:
        return after
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise Problem("invalid", "Last-Event-ID is not a number", field="Last-Event-ID", hint="send an `id` of ours")
    return int(text)


async def follow(call: RequestContext, subject: Subject, after: int | None, source: Source) -> web.StreamResponse:
    """Answer with the stream of a source, looked at whenever there is news of its subject.

    What came before is told to each listener by itself and at its own pace; then it joins the feed of the subject.
    """
    form = call.accepts(NDJSON, SSE)
    context = call.context
    with _opened(call), ExitStack() as own:

        def find() -> Broadcast:
            return context.broadcasts.get(subject) or own.enter_context(Broadcast(context.broadcasts, subject, source))

        feed = find()
        mark = feed.mark
        batch = await source(after, False)  # problems are still an answer of their own
        response = web.StreamResponse(headers={**_HEADERS, "Content-Type": f"{form}; charset=utf-8"})
        await response.prepare(call.request)
        _bound_unread(call.request)
        try:
            while call.request.method != "HEAD":
                if data := b"".join(encode_line(line, form) for line in batch.lines):
                    await asyncio.wait_for(response.write(data), CATCH_UP_TIMEOUT_S)
                    after = batch.lines[-1].seq
                if batch.is_final or context.closing.is_set():
                    break
                if listener := feed.join(form, after or 0, mark, partial(_cut, call.request)):
                    try:
                        async for data in listener.news():
                            await response.write(data)
                    finally:
                        feed.leave(listener)
                    break
                if not batch.lines:  # the source has begun again, and the feed has not seen it yet
                    await feed.look()
                feed = find()
                mark = feed.mark
                batch = await source(after, False)
            await response.write_eof()
        except (ConnectionError, TimeoutError):
            _cut(call.request)  # gone, or too slow; it comes back with ?after=
        return response


def _bound_unread(request: web.BaseRequest) -> None:
    """Have the system hold no more of a stream than waits here: who does not read is noticed soon."""
    own = request.transport.get_extra_info("socket") if request.transport is not None else None
    if own is not None:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_WAITING_BYTES)


def _cut(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()


@contextmanager
def _opened(call: RequestContext) -> Iterator[None]:
    """A place among the open streams. Raises Problem (429) when there is none."""
    gate, metrics = call.context.streams, call.context.metrics
    if not gate.enter(call.key):
        raise Problem(
            "too-many",
            f"{gate.each} streams are open for you",
            hint="close one first",
            headers={"Retry-After": "10"},
            limit=gate.each,
        )
    metrics.streams.inc()
    try:
        yield
    finally:
        gate.leave(call.key)
        metrics.streams.dec()


async def export(call: RequestContext, form: str, name: str, chunks: AsyncIterator[bytes]) -> web.StreamResponse:
    """Answer with a long file as it is made; the client's own pace is the throttle."""
    gate = call.context.exports
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
