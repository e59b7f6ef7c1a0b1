"""Cache revalidation: `Cache-Control` by policy, `ETag`, and 304 for `If-None-Match` (RFC 9110, RFC 9111)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from aiohttp import web

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
    return f'W/"{hashlib.sha256(body).hexdigest()[:24]}"'


def etag_matches(request: web.BaseRequest, etag: str) -> bool:
    """Return whether `If-None-Match` names this tag (weak comparison, RFC 9110 13.1.2)."""
    given = request.headers.get("If-None-Match", "")
    if given.strip() == "*":
        return True
    opaque = etag.removeprefix("W/")
    return any(part.strip().removeprefix("W/") == opaque for part in given.split(",")[:64])


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
    if len(body) > 1024:
        response.enable_compression()
    return response
