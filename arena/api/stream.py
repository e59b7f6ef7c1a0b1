"""Streams of events, one JSON document a line (NDJSON) or as server-sent events: state, changes with `seq`, final.

A cut stream goes on behind `?after=<seq>` or `Last-Event-ID`. A blank line (a comment in SSE) every ten seconds keeps
proxies from hanging up. Refuses to know what the events say: a `Source` tells it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from arena.api.call import Call
from arena.api.problem import Problem

NDJSON = "application/x-ndjson"
SSE = "text/event-stream"
FORMS = {NDJSON: "one event a line", SSE: "server-sent events; `id` is `seq`, `data` the same document"}
KEEP_ALIVE_S = 10.0
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
    """Answer with the stream of a source, looked at whenever the bell `key` rings."""
    form = call.accepts(NDJSON, SSE)
    services = call.services
    with opened(call), services.live.bell(key) as bell:
        batch = await source(after, False)  # problems are still an answer of their own
        response = web.StreamResponse(headers={**_HEADERS, "Content-Type": f"{form}; charset=utf-8"})
        await response.prepare(call.request)
        try:
            while True:
                for line in batch.lines:
                    await response.write(written(line, form))
                    after = line.seq
                if batch.is_final or services.closing.is_set():
                    break
                is_timeout = not await _rung(bell, services.closing)
                if is_timeout:
                    await response.write(b"\n" if form == NDJSON else b": keep-alive\n\n")
                batch = await source(after, is_timeout)
            await response.write_eof()
        except ConnectionError:
            pass  # the client has gone; it comes back with ?after=
        return response


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
