"""The person behind a request: a user, or a guest known by a cookie; and their presence while they follow a game."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from aiohttp import web

from arena.errors import StoreError
from arena.http.identity import read_cookie, session_of
from arena.http.request_context import RequestContext, address_key
from arena.services import people
from arena.services.people import Visitor

GUEST_COOKIE = "arena-guest"
"""Identifies the games of a browser without an account."""
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


async def visitor_of(request: web.Request) -> Visitor:
    """Return the person who sent a request from a browser."""
    cookie = read_cookie(request, GUEST_COOKIE)
    return Visitor(await session_of(request), cookie if _SECRET.fullmatch(cookie) else "", address_key(request))


@asynccontextmanager
async def presence(call: RequestContext, game: str) -> AsyncIterator[None]:
    """Record the presence of a game's human player during this context; do nothing for other visitors."""
    visitor = await visitor_of(call.request)
    if not await call.run(people.follows, call.arena, game, visitor):
        yield
        return
    noting = asyncio.create_task(_note(call, game, visitor))
    try:
        yield
    finally:
        noting.cancel()


async def _note(call: RequestContext, game: str, visitor: Visitor) -> None:
    while True:
        await asyncio.sleep(people.PRESENCE_INTERVAL.total_seconds())
        with suppress(StoreError):
            await call.run(people.follows, call.arena, game, visitor)
