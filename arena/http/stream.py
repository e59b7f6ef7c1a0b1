"""Event streams as NDJSON or server-sent events: the full state, changes with `seq`, then a final event.

A client resumes an interrupted stream with `?after=<seq>` or `Last-Event-ID`. A blank line (a comment in SSE) every ten
seconds keeps proxies from closing the connection.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from aiohttp import web

from arena.events.messages import Subject
from arena.http.broadcast import MAX_PENDING_BYTES, NDJSON, SSE, Broadcast, Source
from arena.http.problem import Problem
from arena.http.request_context import RequestContext

CATCH_UP_TIMEOUT_S = 30.0
"""Timeout of a subscriber for each write before it has caught up with the broadcast."""
# nginx would otherwise collect the lines of a stream before it passes them on.
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Vary": "Accept"}


def resume_point(call: RequestContext, after: int | None) -> int | None:
    """Return the `seq` after which a client resumes: `?after=`, else `Last-Event-ID`. Raises Problem."""
    text = call.request.headers.get("Last-Event-ID", "")
    if after is not None or not text:
        return after
    if not (text.isascii() and text.isdecimal() and len(text) < 16):
        raise Problem(
            "invalid", "Last-Event-ID is not a number", field="Last-Event-ID", hint="send the `id` of the last event"
        )
    return int(text)


async def follow(call: RequestContext, subject: Subject, after: int | None, source: Source) -> web.StreamResponse:
    """Stream the events of a source, queried whenever its subject changes.

    Each subscriber first catches up at its own pace, then joins the broadcast of the subject.
    """
    form = call.accepts(NDJSON, SSE)
    context = call.context
    with _opened(call), ExitStack() as own:

        def find() -> Broadcast:
            return context.broadcasts.get(subject) or own.enter_context(Broadcast(context.broadcasts, subject, source))

        broadcast = find()
        missing = await broadcast.missing(form, after)  # a Problem still becomes a response
        response = web.StreamResponse(headers={**_HEADERS, "Content-Type": f"{form}; charset=utf-8"})
        await response.prepare(call.request)
        _bound_unread(call.request)
        try:
            while call.request.method != "HEAD":
                if missing.data:
                    # The broadcast drops a slow subscriber, but this client has not joined it yet.
                    await asyncio.wait_for(response.write(missing.data), CATCH_UP_TIMEOUT_S)
                    after = missing.seq
                if missing.is_final or context.closing.is_set():
                    break
                if subscriber := broadcast.join(form, after or 0, missing.position, partial(_cut, call.request)):
                    del missing  # a long game has 200 kB of plies, and thousands listen
                    try:
                        async for data in subscriber.messages():
                            await response.write(data)
                    finally:
                        broadcast.leave(subscriber)
                    break
                if not missing.data:  # the source has started again, which the broadcast has not noticed yet
                    await broadcast.refresh()
                broadcast = find()
                missing = await broadcast.missing(form, after)
            await response.write_eof()
        except (ConnectionError, TimeoutError):
            _cut(call.request)  # gone or too slow: the client resumes with ?after=
        return response


def _bound_unread(request: web.BaseRequest) -> None:
    """Bound the kernel's send buffer, so that a client that does not read is noticed soon."""
    own = request.transport.get_extra_info("socket") if request.transport is not None else None
    if own is not None:
        # The kernel doubles the size (socket(7)); without one the buffer grows to megabytes by itself (tcp(7),
        # tcp_wmem).
        own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_PENDING_BYTES)


def _cut(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()


@contextmanager
def _opened(call: RequestContext) -> Iterator[None]:
    """Count a stream while it is open. Raises Problem (429) when this client has too many."""
    limiter, metrics = call.context.streams, call.context.metrics
    if not limiter.enter(call.key):
        raise Problem(
            "too-many",
            f"you have {limiter.each} open streams",
            hint="close one first",
            headers={"Retry-After": "10"},
            limit=limiter.each,
        )
    metrics.streams.inc()
    try:
        yield
    finally:
        limiter.leave(call.key)
        metrics.streams.dec()


async def export(call: RequestContext, form: str, name: str, chunks: AsyncIterator[bytes]) -> web.StreamResponse:
    """Stream a long file as it is generated; a slow client slows the generator (back-pressure)."""
    limiter = call.context.exports
    if not limiter.enter(call.key):
        raise Problem(
            "too-many", f"you have {limiter.each} running exports", headers={"Retry-After": "5"}, limit=limiter.each
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
        limiter.leave(call.key)
