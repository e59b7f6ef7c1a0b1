"""Idempotency keys: a write that is sent again is done once and gets the same response.

Reusing a key for a different request is an error (422). A repetition while the first request is running gets 409. A
response with a secret is not stored: the repetition gets 409, which names the object that was created.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from aiohttp import web

from arena import services
from arena.errors import BadValueError, ConflictError
from arena.http.problem import Problem, as_json
from arena.http.request_context import RequestContext

HEADER = "Idempotency-Key"
_KEY = re.compile(r"[\x21-\x7e]{1,100}", re.ASCII)
_KEPT = ("Location",)


async def once(
    call: RequestContext, content: bytes, run: Callable[[], Awaitable[web.StreamResponse]], *, confides: str = ""
) -> web.StreamResponse:
    """Return the stored response of a known key; otherwise run the request and store its response. Errors are not
    stored.

    `content` identifies the request: the body, or the checksum of an upload. `confides`: see `Route`.
    """
    key = call.request.headers.get(HEADER)
    if key is None:
        return await run()
    if not _KEY.fullmatch(key):
        raise Problem("invalid", f"invalid {HEADER}: expected 1 to 100 visible ASCII characters", field=HEADER)
    name = f"{call.request.method} {call.request.path}"[:120]
    headers = call.request.headers
    secret = headers.get("Authorization") or headers.get("Cookie") or ""
    digest = services.idempotency.digest_of(
        content + b"\0" + call.request.query_string.encode(), secret if confides else ""
    )
    try:
        known = await call.run(services.idempotency.begin, call.arena, call.user, key, name, digest)
    except BadValueError as error:
        raise Problem(error.kind, str(error), field=HEADER, hint=error.hint) from None
    except ConflictError as error:
        raise Problem(error.kind, str(error), headers={"Retry-After": "1"}) from None
    if known is not None:
        status, stored = known
        if confides == "answer":
            raise _shown_once(stored)
        return _again(status, stored)
    try:
        response = await run()
        assert isinstance(response, web.Response), "streamed responses cannot be repeated"
    except BaseException:
        await call.run(services.idempotency.drop, call.arena, call.user, key)
        raise
    kept = _kept(response)
    if confides == "answer":
        kept["body"] = {"id": (kept["body"] or {}).get("id")}
    await call.run(services.idempotency.end, call.arena, call.user, key, response.status, kept)
    return response


def _shown_once(kept: Mapping[str, Any]) -> Problem:
    number = (kept.get("body") or {}).get("id")
    return Problem(
        "conflict",
        f"the first request with this key created number {number}; its secret was shown only then",
        hint="if you lost that response, revoke it and create another one with a new key",
        made=number,
    )


def _kept(response: web.Response) -> dict[str, Any]:
    body = response.body
    return {
        "headers": {one: response.headers[one] for one in _KEPT if one in response.headers},
        "body": json.loads(body) if isinstance(body, bytes) and body else None,
    }


def _again(status: int, kept: Mapping[str, Any]) -> web.Response:
    body = kept.get("body")
    return web.Response(
        status=status,
        body=None if body is None else as_json(body).encode(),
        headers={
            "Content-Type": "application/json; charset=utf-8",
            "Cache-Control": "no-store",
            "Idempotency-Replayed": "true",
            **kept.get("headers", {}),
        },
    )
