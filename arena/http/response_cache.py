"""Response cache: responses are cached in this process and reused while their data is unchanged.

Only public responses are cached; requests with a token or a session cookie bypass the cache. A response is fresh for
one revision of the database and at most `TTL_S`, as pages show relative times.
Concurrent requests for one address share a single computation.
"""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, replace
from typing import Protocol

from aiohttp import web
from cachetools import TTLCache

from arena.errors import StoreError
from arena.http.cache_control import etag_matches, etag_of, full_response
from arena.http.content_negotiation import accepts_coding

TTL_S = 5.0
"""Time to live of a response. Pages contain times relative to now, which must not get stale."""
MAX_BYTES = 64 * 2**20
MAX_BODY_BYTES = 2 * 2**20
_MAX_KEY = 2000
_PACKED_ABOVE = 1024

Make = Callable[[], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A cached response. `packed` is the body gzipped if it is long; `etag` is empty where caching is forbidden."""

    mark: Hashable
    headers: dict[str, str]
    etag: str
    body: bytes
    packed: bytes | None

    @property
    def size_bytes(self) -> int:
        """Approximate memory use."""
        return len(self.body) + len(self.packed or b"") + 1000

    def response(self, request: web.BaseRequest) -> web.Response:
        """Return the response to one request; 304 if the client's copy is current."""
        if self.etag and etag_matches(request, self.etag):
            return web.Response(status=304, headers=self.headers)
        if self.packed is not None and accepts_coding(request.headers.get("Accept-Encoding", ""), "gzip"):
            return web.Response(body=self.packed, headers={**self.headers, "Content-Encoding": "gzip"})
        return web.Response(body=self.body, headers=self.headers)


class Revisions(Protocol):
    """Marks of the database's revision: equal marks mean that nothing was committed between them."""

    def mark(self) -> Hashable | None:
        """Return the current mark without blocking. If it is None, call `look` from a thread."""

    def look(self) -> Hashable:
        """Query the database for the current mark. Raises StoreUnavailableError."""


class ResponseCache:
    """The cached responses of one process. Beyond `max_bytes` the least recently used ones are evicted."""

    def __init__(
        self, changes: Revisions, *, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._changes = changes
        self._kept: TTLCache[str, CachedResponse] = TTLCache(max_bytes, TTL_S, clock, lambda kept: kept.size_bytes)
        self._making: dict[tuple[str, Hashable], asyncio.Future[CachedResponse | None]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def size_bytes(self) -> int:
        """Approximate memory use of all cached responses."""
        return int(self._kept.currsize)

    async def answer(
        self, request: web.Request, cookie: str, make: Make, extra: Hashable = None, *, variant: str = ""
    ) -> web.StreamResponse:
        """Return the cached response, or the result of `make`, which is cached if it is public.

        `cookie` is the name of the session cookie. `extra` stands for inputs of the response other than the
        database. `variant` tells apart the responses of one address, such as those in several languages.
        """
        # The key contains no header: clients could fill the cache by varying it.
        key = f"{variant} {request.raw_path}"
        is_known_to_us = "Authorization" in request.headers or (
            "Cookie" in request.headers and cookie in request.cookies
        )
        if is_known_to_us or len(key) > _MAX_KEY:
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
                mark = object()  # the response itself will report it
        return mark, extra

    async def _make(self, request: web.Request, key: str, mark: Hashable, make: Make) -> web.StreamResponse:
        future: asyncio.Future[CachedResponse | None] = asyncio.get_running_loop().create_future()
        self._making[key, mark] = future
        kept: CachedResponse | None = None
        try:
            with full_response(request):
                response = await make()
            found = _cacheable(response)
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


def _cacheable(response: web.StreamResponse) -> CachedResponse | None:
    """Return the response in the form to cache; None if it is private, streamed, too large, or sets a cookie."""
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
