"""Response cache: responses are cached in this process and reused while their data is unchanged.

Only public responses are cached; requests with a token or a session cookie bypass the cache. A response is fresh for
one revision of the database and at most `TTL_S`, as pages show relative times. Concurrent requests for one address
share a single computation.

Media type and coding follow `Accept` and `Accept-Encoding` (RFC 9110 12.5). Browsers and proxies revalidate:
`Cache-Control` by policy, `ETag`, and 304 for `If-None-Match` (RFC 9110, RFC 9111).
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import time
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from aiohttp import web
from cachetools import TTLCache

from arena.errors import StoreError
from arena.http.problem import Problem

TTL_S = 5.0
"""Time to live of a response. Pages contain times relative to now, which must not get stale."""
MAX_BYTES = 64 * 2**20
"""Memory for the responses of a process: some two thousand pages of 30 kB."""
MAX_BODY_BYTES = 2 * 2**20
"""A longer body is not cached, as it would evict dozens of pages."""
_MAX_KEY = 2000
"""A response with a longer address is not cached: clients choose addresses, and `size_bytes` leaves them out."""
_PACKED_ABOVE = 1024
"""Length in bytes above which a body is compressed: a shorter response fits into one packet anyway."""
_MAX_PARTS = 64
"""Parts of a header that are read: one of 16 KiB could hold thousands."""


def negotiate(accept: str, offers: tuple[str, ...]) -> str:
    """Return the media type of `offers` that an `Accept` header prefers, the first one in a tie.

    Raises Problem (406) when the header accepts none of them.
    """
    if not accept.strip():
        return offers[0]
    ranges = _weighted(accept)
    best, best_weight = "", 0.0
    for offer in offers:
        # The most specific range that covers the offer decides its weight.
        fits = [(len(kind), weight) for kind, weight in ranges if _covers(kind, offer)]  # RFC 9110, 12.5.1
        weight = max(fits)[1] if fits else 0.0
        if weight > best_weight:
            best, best_weight = offer, weight
    if not best:
        raise Problem("not-acceptable", "no media type in Accept is available", hint="available: " + ", ".join(offers))
    return best


def accepts_coding(accept_encoding: str, coding: str) -> bool:
    """Return whether an `Accept-Encoding` header allows a coding such as gzip."""
    weights = dict(reversed(_weighted(accept_encoding)))  # the first one counts if a coding is repeated
    return weights.get(coding, weights.get("*", 0.0)) > 0


def preferred_language(accept_language: str, offers: tuple[str, ...]) -> str:
    """Return the language of `offers` that an `Accept-Language` header prefers, by default the first one."""
    weights: dict[str, float] = {}
    for tag, weight in _weighted(accept_language):
        language = tag.partition("-")[0]
        weights[language] = max(weight, weights.get(language, 0.0))
    best = max(offers, key=lambda offer: weights.get(offer, 0.0))
    return best if weights.get(best, 0.0) > 0 else offers[0]


def _weighted(header: str) -> list[tuple[str, float]]:
    """Split a header into its parts with their weights: 1 without `q=`, 0 for an invalid weight."""
    return [_part(part) for part in header.split(",")[:_MAX_PARTS] if part.strip()]


def _part(text: str) -> tuple[str, float]:
    name, *parameters = (piece.strip().lower() for piece in text.split(";"))
    weight = 1.0
    for parameter in parameters:
        if parameter.replace(" ", "").startswith("q="):
            try:
                given = float(parameter.partition("=")[2])
            except ValueError:
                given = 0.0
            weight = given if 0 <= given <= 1 else 0.0  # NaN compares as false
    return name, weight


def _covers(kind: str, offer: str) -> bool:
    return kind in ("*/*", "*", offer) or (kind.endswith("/*") and offer.startswith(kind[:-1]))


CachePolicy: TypeAlias = Literal["immutable", "settled", "revalidate", "never"]
"""How long clients may reuse a response.

- `immutable`: for a year, without revalidation.
- `settled`: for five minutes; the state is final but can be reopened, as when a tournament is extended.
- `revalidate`: only after the server has confirmed the `ETag`.
- `never`: not at all.
"""

_CONTROL: dict[CachePolicy, str] = {
    "immutable": "max-age=31536000, immutable",
    "settled": "max-age=300, immutable",
    "revalidate": "no-cache",
    "never": "no-store",
}


_WHOLE: web.RequestKey[bool] = web.RequestKey("whole", bool)


@contextmanager
def full_response(request: web.BaseRequest) -> Iterator[None]:
    """Answer in full during this context, never with 304: the response is built for the response cache."""
    request[_WHOLE] = True
    try:
        yield
    finally:
        del request[_WHOLE]


def etag_of(body: bytes) -> str:
    """Return a weak `ETag` of a body, the same for every content coding."""
    # 96 bits: no two bodies share a tag by chance.
    return f'W/"{hashlib.sha256(body).hexdigest()[:24]}"'


def etag_matches(request: web.BaseRequest, etag: str) -> bool:
    """Return whether `If-None-Match` names this tag (weak comparison, RFC 9110 13.1.2)."""
    given = request.headers.get("If-None-Match", "")
    if given.strip() == "*":
        return True
    opaque = etag.removeprefix("W/")
    return any(part.strip().removeprefix("W/") == opaque for part in given.split(",")[:_MAX_PARTS])


def header_value(keep: CachePolicy, *, is_private: bool) -> str:
    """Return the value of `Cache-Control` for a policy."""
    return _CONTROL[keep] if keep == "never" else f"{'private' if is_private else 'public'}, {_CONTROL[keep]}"


def respond(
    request: web.BaseRequest, body: bytes, *, status: int, keep: CachePolicy, is_private: bool, content_type: str
) -> web.Response:
    """Return the response with its caching headers; 304 without a body if the client's copy is current."""
    headers = {
        "Cache-Control": header_value(keep, is_private=is_private),
        "Vary": "Accept, Accept-Encoding, Authorization",
    }
    if status == 200 and request.method in ("GET", "HEAD") and keep != "never":
        headers["ETag"] = etag_of(body)
        if _WHOLE not in request and etag_matches(request, headers["ETag"]):
            return web.Response(status=304, headers=headers)
    response = web.Response(status=status, body=body, headers={**headers, "Content-Type": content_type})
    if len(body) > _PACKED_ABOVE:
        response.enable_compression()
    return response


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
        """Approximate memory use, with a kilobyte for headers and objects."""
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
            # A client that hangs up cancels its own wait, not the answer that others wait for.
            kept = await asyncio.shield(making)
            return kept.response(request) if kept is not None else await make()
        return await self._make(request, key, mark, make)

    async def _mark(self, extra: Hashable) -> Hashable:
        mark = self._changes.mark()
        if mark is None:
            try:
                # A query would block the loop.
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
            cacheable = _cacheable(response)
            if cacheable is None:
                return response
            kept = replace(cacheable, mark=mark)
            if len(kept.body) > _PACKED_ABOVE:
                # Without a time in its header, gzip gives the same bytes for the same body.
                kept = replace(kept, packed=await asyncio.to_thread(gzip.compress, kept.body, 6, mtime=0))
            # The mark is older than the response: a commit meanwhile makes the entry stale too early, never too late.
            self._kept[key] = kept
            return kept.response(request)
        finally:
            del self._making[key, mark]
            # Also after an error: those who wait then make their own response.
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
    # A proxy must not pass the compressed body to a client that did not ask for it.
    vary = headers.get("Vary", "")
    if "Accept-Encoding" not in vary:
        headers["Vary"] = f"{vary}, Accept-Encoding".removeprefix(", ")
    return CachedResponse(None, headers, etag, body, None)
