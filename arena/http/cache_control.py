"""What may be kept, and for how long: `ETag` with 304, `immutable` for what is over, `no-store` for what is alive."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from aiohttp import web

CachePolicy: TypeAlias = Literal["immutable", "settled", "revalidate", "never"]
"""`settled` is over and may yet be taken up again, as a tournament that is extended: immutable for five minutes."""

_CONTROL: dict[CachePolicy, str] = {
    "immutable": "max-age=31536000, immutable",
    "settled": "max-age=300, immutable",
    "revalidate": "no-cache",
    "never": "no-store",
}


_WHOLE: web.RequestKey[bool] = web.RequestKey("whole", bool)


@contextmanager
def full_response(request: web.BaseRequest) -> Iterator[None]:
    """While an answer is made to be kept: it is made whole, whatever this one client has already."""
    request[_WHOLE] = True
    try:
        yield
    finally:
        del request[_WHOLE]


def etag_of(body: bytes) -> str:
    """A weak tag of a body: the same for every encoding of it."""
    return f'W/"{hashlib.sha256(body).hexdigest()[:24]}"'


def etag_matches(request: web.BaseRequest, etag: str) -> bool:
    """Whether `If-None-Match` names this tag (weak comparison, RFC 9110 13.1.2)."""
    given = request.headers.get("If-None-Match", "")
    if given.strip() == "*":
        return True
    opaque = etag.removeprefix("W/")
    return any(part.strip().removeprefix("W/") == opaque for part in given.split(",")[:64])


def header_value(keep: CachePolicy, *, is_private: bool) -> str:
    """The value of `Cache-Control`."""
    return _CONTROL[keep] if keep == "never" else f"{'private' if is_private else 'public'}, {_CONTROL[keep]}"


def respond(
    request: web.BaseRequest, body: bytes, *, status: int, keep: CachePolicy, is_private: bool, content_type: str
) -> web.Response:
    """The answer to a GET or a write: 304 without a body if the client has it already."""
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
