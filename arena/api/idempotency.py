"""`Idempotency-Key`: a write sent again is answered as the first time, and done once.

The same key with other content is a mistake (422), one whose first request is still at work waits its turn (409). What
was answered with a secret in it is not kept: asked again, the answer is 409 and says what was made.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any

from aiohttp import web

from arena.http.json_text import as_json
from arena.http.problem import Problem
from arena.http.request_context import RequestContext
from arena.store.models import now

HEADER = "Idempotency-Key"
ABANDONED = timedelta(minutes=15)
"""A request that has not been answered after that long never will be: its process died."""
_KEY = re.compile(r"[\x21-\x7e]{1,100}", re.ASCII)
_KEPT = ("Location",)


async def once(
    call: RequestContext, content: bytes, run: Callable[[], Awaitable[web.StreamResponse]], *, confides: str = ""
) -> web.StreamResponse:
    """Answer as before if the key is known; else run, and remember what was answered. Errors are not remembered.

    `content` is what tells one request from another: the body, or the checksum of an upload. `confides`: see `Route`.
    """
    key = call.request.headers.get(HEADER)
    if key is None:
        return await run()
    if not _KEY.fullmatch(key):
        raise Problem("invalid", f"{HEADER} has 1 to 100 visible ASCII characters", field=HEADER)
    answers, user = call.store.answers, call.user.user_id
    name = f"{call.request.method} {call.request.path}"[:120]
    digest = _digest(call, content + b"\0" + call.request.query_string.encode(), has_secret=bool(confides))
    known = await call.run(answers.begin, user, key, name, digest)
    if known is not None and not known.status and known.created < now() - ABANDONED:
        await call.run(answers.drop, user, key)
        known = await call.run(answers.begin, user, key, name, digest)
    if known is not None:
        if (known.route, known.digest) != (name, digest):
            raise Problem("invalid", "this key was used for another request", field=HEADER, hint="take a new key")
        if not known.status:
            raise Problem("conflict", "the first request with this key is still at work", headers={"Retry-After": "1"})
        if confides == "answer":
            raise _shown_once(known.body)
        return _again(known.status, known.body)
    try:
        response = await run()
        assert isinstance(response, web.Response), "only whole answers can be given again"
    except BaseException:
        await call.run(answers.drop, user, key)
        raise
    kept = _kept(response)
    if confides == "answer":
        kept["body"] = {"id": (kept["body"] or {}).get("id")}
    await call.run(answers.end, user, key, response.status, kept)
    return response


def _digest(call: RequestContext, content: bytes, *, has_secret: bool) -> str:
    """What tells requests apart. Of one with a password in it only who sent it could find out more from that."""
    if not has_secret:
        return hashlib.sha256(content).hexdigest()
    headers = call.request.headers
    key = headers.get("Authorization") or headers.get("Cookie") or ""
    return hmac.digest(key.encode(), content, "sha256").hex()


def _shown_once(kept: Mapping[str, Any]) -> Problem:
    number = (kept.get("body") or {}).get("id")
    return Problem(
        "conflict",
        f"the first request with this key made number {number}; its secret was shown then, and is not kept",
        hint="if that answer was lost, revoke what was made and make another one with a new key",
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
