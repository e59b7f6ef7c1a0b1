"""Answers made before, kept in this process and given again while the data they were made from is unchanged.

Only what anybody may see is kept: a request with a token or with the cookie of a session passes by. One rule of
validity: an answer is good for one mark of the database (see `arena.store.base.changes`) and a few seconds, as pages
say how
long ago things were. It is made once for all who ask at the same time.
"""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, replace

from aiohttp import web
from cachetools import TTLCache

from arena.http.cache_control import etag_matches, etag_of, full_response
from arena.http.content_negotiation import accepts_coding
from arena.store.base.changes import Changes
from arena.store.base.errors import StoreError

TTL_S = 5.0
"""How long an answer is given again at most: times are told relative to now."""
MAX_BYTES = 64 * 2**20
MAX_BODY_BYTES = 2 * 2**20
_MAX_KEY = 2000
_PACKED_ABOVE = 1024

Make = Callable[[], Awaitable[web.StreamResponse]]
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """One answer; `packed` is its body in gzip where that is worth while. `etag` is empty where none may be given."""

    mark: Hashable
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
        if self.etag and etag_matches(request, self.etag):
            return web.Response(status=304, headers=self.headers)
        if self.packed is not None and accepts_coding(request.headers.get("Accept-Encoding", ""), "gzip"):
            return web.Response(body=self.packed, headers={**self.headers, "Content-Encoding": "gzip"})
        return web.Response(body=self.body, headers=self.headers)


class ResponseCache:
    """The kept answers of one process; beyond `max_bytes` the least recently used ones go."""

    def __init__(
        self, changes: Changes, *, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._changes = changes
        self._kept: TTLCache[_Key, CachedResponse] = TTLCache(max_bytes, TTL_S, clock, lambda kept: kept.size_bytes)
        self._making: dict[tuple[_Key, Hashable], asyncio.Future[CachedResponse | None]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def size_bytes(self) -> int:
        """About what all kept answers take."""
        return int(self._kept.currsize)

    async def answer(self, request: web.Request, cookie: str, make: Make, extra: Hashable = None) -> web.StreamResponse:
        """The kept answer, else what `make` gives, kept if it may be.

        `cookie` is the name of the session's; `extra` is what the answer depends on beside the database.
        """
        key = (request.raw_path, request.headers.get("Accept", ""))
        is_known_to_us = "Authorization" in request.headers or (
            "Cookie" in request.headers and cookie in request.cookies
        )
        if is_known_to_us or len(key[0]) + len(key[1]) > _MAX_KEY:
            return await make()
        mark = await self._mark(extra)
        kept = self._kept.get(key)
        if kept is not None and kept.mark == mark:
            return kept.response(request)
        making = self._making.get((key, mark))
        if making is not None:
            kept = await asyncio.shield(making)
            return kept.response(request) if kept is not None else await make()
        return await self._make(request, key, mark, make)

    async def _mark(self, extra: Hashable) -> Hashable:
        mark = self._changes.mark()
        if mark is None:
            try:
                mark = await asyncio.to_thread(self._changes.look)
            except StoreError:
                mark = object()  # the answer itself will say so
        return mark, extra

    async def _make(self, request: web.Request, key: _Key, mark: Hashable, make: Make) -> web.StreamResponse:
        future: asyncio.Future[CachedResponse | None] = asyncio.get_running_loop().create_future()
        self._making[key, mark] = future
        kept: CachedResponse | None = None
        try:
            with full_response(request):
                response = await make()
            found = _keepable(response)
            if found is None:
                return response
            kept = replace(found, mark=mark)
            if len(kept.body) > _PACKED_ABOVE:
                kept = replace(kept, packed=await asyncio.to_thread(gzip.compress, kept.body, 6, mtime=0))
            self._kept[key] = kept
            return kept.response(request)
        finally:
            del self._making[key, mark]
            future.set_result(kept)


def _keepable(response: web.StreamResponse) -> CachedResponse | None:
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
    return CachedResponse(None, headers, etag, body, None)
