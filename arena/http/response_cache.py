"""Answers made before, kept in this process and given again while the data they were made from is unchanged.

Only what anybody may see is kept: a request with a token or with the cookie of a session passes by. An answer is kept
for one mark of the database (see `arena.store.changes`) and for a few seconds at most, as pages say how long ago
things were. It is made once for all who ask at the same time.

What may rest (a page) is made once a second at most, however fast results come in: for a second it is given as it is,
for another while it is made anew behind its readers' backs. Whoever says `Cache-Control: no-cache`, as browsers do when
a page is reloaded, waits for one that knows everything committed before.
"""

from __future__ import annotations

import asyncio
import gzip
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, replace

from aiohttp import web

from arena.http.accept import takes
from arena.http.cache import etag_of, is_known, made_whole
from arena.store.changes import Changes
from arena.store.errors import StoreError

FRESH_S = 5.0
"""How long an answer is given again at most: times are told relative to now."""
REST_S = 1.0
"""How long a page rests once it was made; twice as old it is given to nobody if something has changed."""
MAX_BYTES = 64 * 2**20
MAX_BODY_BYTES = 2 * 2**20
_MAX_KEY = 2000
_PACKED_ABOVE = 1024

Make = Callable[[], Awaitable[web.StreamResponse]]
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Kept:
    """One answer; `packed` is its body in gzip where that is worth while. `etag` is empty where none may be given."""

    mark: Hashable
    made: float
    headers: dict[str, str]
    etag: str
    body: bytes
    packed: bytes | None

    @property
    def size_bytes(self) -> int:
        """About what it takes."""
        return len(self.body) + len(self.packed or b"") + 1000

    def response(self, request: web.BaseRequest) -> web.Response:
        """The answer to one request: 304 if the client has it already."""
        if self.etag and is_known(request, self.etag):
            return web.Response(status=304, headers=self.headers)
        if self.packed is not None and takes(request.headers.get("Accept-Encoding", ""), "gzip"):
            return web.Response(body=self.packed, headers={**self.headers, "Content-Encoding": "gzip"})
        return web.Response(body=self.body, headers=self.headers)


class ResponseCache:
    """The kept answers of one process; beyond `max_bytes` the longest unused ones go."""

    def __init__(
        self,
        changes: Changes,
        *,
        max_bytes: int = MAX_BYTES,
        rest_s: float = REST_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._changes = changes
        self._max_bytes = max_bytes
        self.rest_s = rest_s
        self._clock = clock
        self._kept: OrderedDict[_Key, Kept] = OrderedDict()
        self._making: dict[tuple[_Key, Hashable], asyncio.Future[Kept | None]] = {}
        self._behind: set[asyncio.Task[None]] = set()
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    async def answer(
        self, request: web.Request, cookie: str, make: Make, extra: Hashable = None, *, may_rest: bool = False
    ) -> web.StreamResponse:
        """The kept answer, else what `make` gives, kept if it may be.

        `cookie` is the name of the session's; `extra` is what the answer depends on beside the database; one that
        `may_rest` is not made anew for `rest_s` seconds although something has changed.
        """
        key = (request.raw_path, request.headers.get("Accept", ""))
        is_known_to_us = "Authorization" in request.headers or (
            "Cookie" in request.headers and cookie in request.cookies
        )
        if is_known_to_us or len(key[0]) + len(key[1]) > _MAX_KEY:
            return await make()
        rest_s = self.rest_s if may_rest else 0.0
        while True:
            mark = await self._mark(extra)
            kept = self._kept.get(key)
            if kept is None:
                break
            age = self._clock() - kept.made
            if (kept.mark == mark and age < FRESH_S) or (age < 2 * rest_s and not _insists(request)):
                self._kept.move_to_end(key)
                if kept.mark != mark and age >= rest_s and not self._is_made(key):
                    self._make_behind(request, key, mark, make)
                return kept.response(request)
            if age >= rest_s:
                break
            await asyncio.sleep(rest_s - age)
        making = self._making.get((key, mark))
        if making is not None:
            kept = await asyncio.shield(making)
            return kept.response(request) if kept is not None else await make()
        return await self._make(request, key, mark, make)

    def _is_made(self, key: _Key) -> bool:
        return any(one == key for one, _ in self._making)

    def _make_behind(self, request: web.Request, key: _Key, mark: Hashable, make: Make) -> None:
        """Make an answer for those who ask later; what goes wrong is told to whoever asks then."""

        async def work() -> None:
            with suppress(Exception):
                await self._make(request, key, mark, make)

        task = asyncio.create_task(work())
        self._behind.add(task)
        task.add_done_callback(self._behind.discard)

    async def _mark(self, extra: Hashable) -> Hashable:
        mark = self._changes.mark()
        if mark is None:
            try:
                mark = await asyncio.to_thread(self._changes.look)
            except StoreError:
                mark = object()  # the answer itself will say so
        return mark, extra

    async def _make(self, request: web.Request, key: _Key, mark: Hashable, make: Make) -> web.StreamResponse:
        future: asyncio.Future[Kept | None] = asyncio.get_running_loop().create_future()
        self._making[key, mark] = future
        kept: Kept | None = None
        began = self._clock()
        try:
            with made_whole(request):
                response = await make()
            found = _keepable(response)
            if found is None:
                return response
            kept = replace(found, mark=mark, made=began)
            if len(kept.body) > _PACKED_ABOVE:
                kept = replace(kept, packed=await asyncio.to_thread(gzip.compress, kept.body, 6, mtime=0))
            self._put(key, kept)
            return kept.response(request)
        finally:
            del self._making[key, mark]
            future.set_result(kept)

    def _put(self, key: _Key, kept: Kept) -> None:
        if before := self._kept.pop(key, None):
            self.size_bytes -= before.size_bytes
        self._kept[key] = kept
        self.size_bytes += kept.size_bytes
        while self.size_bytes > self._max_bytes and self._kept:
            _, oldest = self._kept.popitem(last=False)
            self.size_bytes -= oldest.size_bytes


def _insists(request: web.BaseRequest) -> bool:
    """Whether the client will have nothing that is behind the database (RFC 9111 5.2.1)."""
    control = request.headers.get("Cache-Control", "")
    return "no-cache" in control or "max-age=0" in control


def _keepable(response: web.StreamResponse) -> Kept | None:
    """The answer as it can be kept; None for one that is not for everybody, not whole, or sets a cookie."""
    if not isinstance(response, web.Response) or response.prepared or response.status != 200 or response.cookies:
        return None
    control = response.headers.get("Cache-Control", "")
    if "private" in control or "Set-Cookie" in response.headers:
        return None
    body = response.body
    if not isinstance(body, bytes) or len(body) > MAX_BODY_BYTES:
        return None
    headers = {name: value for name, value in response.headers.items() if name not in ("ETag", "Content-Length")}
    etag = ""
    if "no-store" not in control:
        etag = headers["ETag"] = response.headers.get("ETag") or etag_of(body)
    vary = headers.get("Vary", "")
    if "Accept-Encoding" not in vary:
        headers["Vary"] = f"{vary}, Accept-Encoding".removeprefix(", ")
    return Kept(None, 0.0, headers, etag, body, None)
