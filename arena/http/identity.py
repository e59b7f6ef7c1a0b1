"""Authentication of a request: a bearer token, the cookie of a browser session, or a guest known by a cookie.

Visitors who follow a game are present at it.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import ParamSpec, TypeVar

from aiohttp import web

from arena.documents.account import Identity
from arena.errors import StoreError, UnauthorisedError
from arena.http.problem import Problem, too_many
from arena.http.request_context import CONTEXT, IDENTITY, RequestContext, WebContext, address_key
from arena.services import access, people_game
from arena.services.account import LoginOrigin, TooManyTriesError, is_trusted_origin
from arena.services.arena import Arena
from arena.services.people import Visitor

P = ParamSpec("P")
T = TypeVar("T")

_BEARER = re.compile(r"Bearer +(arena_[A-Za-z0-9_-]{43})", re.IGNORECASE | re.ASCII)
_COOKIE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_SESSION: web.RequestKey[tuple[Identity | None]] = web.RequestKey("session", tuple)
"""The session's identity, looked up once per request."""
CSRF_HEADER = "X-CSRF-Token"
SESSION_COOKIE = "arena"
DEVICE_COOKIE = "arena-device"
"""Marks a browser that has logged in before, so that wrong passwords from elsewhere do not lock it out."""
GUEST_COOKIE = "arena-guest"
"""Identifies the games of a browser without an account."""
SAFE = ("GET", "HEAD", "OPTIONS")


def cookie_name(is_https: bool, name: str = SESSION_COOKIE) -> str:
    """Return the name under which a cookie is set. The prefix `__Host-` binds it to this host, but requires HTTPS."""
    return f"__Host-{name}" if is_https else name


def give_cookie(response: web.StreamResponse, context: WebContext, name: str, value: str, seconds: int) -> None:
    """Set a cookie for the whole site that scripts cannot read."""
    response.set_cookie(
        cookie_name(context.is_https, name),
        value,
        max_age=seconds,
        path="/",
        secure=context.is_https,
        httponly=True,
        # With Strict, who follows a link from another site would seem to be logged out.
        samesite="Lax",
    )


def read_cookie(request: web.Request, name: str) -> str:
    """Return the value of one of our cookies; empty if the request has none."""
    return request.cookies.get(cookie_name(request.app[CONTEXT].is_https, name), "")


async def identify(request: web.Request) -> Identity | None:
    """Return the identity of the request, None for an anonymous one.

    Raises Problem for an invalid token, and for a write whose CSRF token is missing or wrong.
    """
    if IDENTITY in request:
        return request[IDENTITY]
    context = request.app[CONTEXT]
    identity: Identity | None
    if "Authorization" in request.headers:
        identity = await _bearer(request, context)
    else:
        identity = await session_of(request)
        if identity and request.method not in SAFE and not is_from_own_page(request, identity):
            raise Problem(
                "forbidden",
                f"missing or invalid {CSRF_HEADER} header",
                hint="reload the page and try again; programs use a bearer token instead",
            )
    if identity:
        request[IDENTITY] = identity
    return identity


async def _bearer(request: web.Request, context: WebContext) -> Identity:
    given = request.headers.getall("Authorization")
    # Of two headers a proxy may have checked the other one.
    match = _BEARER.fullmatch(given[0].strip()) if len(given) == 1 else None
    if match is None:
        raise await _refused(request, context, "the Authorization header does not contain a token of this arena")
    try:
        return await asyncio.to_thread(access.of_token, context.arena, match[1])
    except UnauthorisedError as error:
        raise await _refused(request, context, str(error)) from None


async def _refused(request: web.Request, context: WebContext, detail: str) -> Problem:
    """Return the problem of an invalid token: 401, or 429 after too many from one address."""
    if wait := await context.limiters["wrong-token"].admit(address_key(request)):
        return too_many(wait)
    return Problem(
        "unauthorised",
        detail,
        hint="send Authorization: Bearer arena_…; create one on the account page or with `arena login`",
        headers={"WWW-Authenticate": 'Bearer realm="arena", error="invalid_token"'},
    )


async def with_name_and_password(
    call: RequestContext, use: Callable[[Arena, str, str, LoginOrigin], T], name: str, password: str
) -> T:
    """Run a use case that takes name and password of an anonymous client. Raises what `with_password` raises."""
    place = place_of(call.request)
    context = call.context
    is_known = await call.run(is_trusted_origin, call.arena, name, place)
    async with (context.trusted_password_queue if is_known else context.password_queue).turn(call.key):
        return await _tried(call, use, call.arena, name, password, place)


async def with_password(call: RequestContext, use: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a use case that hashes or checks a logged-in user's password; only a few run at a time.

    Raises Problem (429 after too many wrong passwords, 503 when the queue is full) and what the use case raises.
    """
    async with call.context.trusted_password_queue.turn(call.key):
        return await _tried(call, use, *args, **kwargs)


async def _tried(call: RequestContext, use: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return await call.run(use, *args, **kwargs)
    except TooManyTriesError as error:
        raise too_many(error.wait_s) from None


def place_of(request: web.Request) -> LoginOrigin:
    """Return the origin of a log-in: its address, and its device cookie if that is well-formed."""
    device = read_cookie(request, DEVICE_COOKIE)
    return LoginOrigin(address_key(request), device if _COOKIE.fullmatch(device) else "")


async def session_of(request: web.Request) -> Identity | None:
    """Return the identity of the session cookie, None without a valid one."""
    context = request.app[CONTEXT]
    if _SESSION not in request:
        value = read_cookie(request, SESSION_COOKIE)
        identity = None
        if _COOKIE.fullmatch(value):
            identity = await asyncio.to_thread(access.of_session, context.arena, value)
        request[_SESSION] = (identity,)
    return request[_SESSION][0]


def is_same_origin(request: web.BaseRequest) -> bool:
    """Return whether the browser reports a request from a page of this host, or reports nothing."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("Origin")
    return origin is None or origin.partition("://")[2] == request.host


def is_from_own_page(request: web.BaseRequest, identity: Identity, token: str | None = None) -> bool:
    """Return whether a write carries the session's CSRF token and comes from our own pages.

    `token` comes from a form; without it the request header is checked.
    """
    given = token if token is not None else request.headers.get(CSRF_HEADER, "")
    # As bytes: compare_digest refuses texts that are not ASCII.
    is_ours = secrets.compare_digest(given.encode("utf-8", "replace"), (identity.csrf or "").encode())
    return bool(identity.csrf) and is_ours and is_same_origin(request)


async def visitor_of(request: web.Request) -> Visitor:
    """Return the person who sent a request from a browser."""
    cookie = read_cookie(request, GUEST_COOKIE)
    return Visitor(await session_of(request), cookie if _COOKIE.fullmatch(cookie) else "", address_key(request))


@asynccontextmanager
async def presence(call: RequestContext, game: str) -> AsyncIterator[None]:
    """Record the presence of a game's human player during this context; do nothing for other visitors."""
    visitor = await visitor_of(call.request)
    if not await call.run(people_game.follows, call.arena, game, visitor):
        yield
        return
    noting = asyncio.create_task(_note(call, game, visitor))
    try:
        yield
    finally:
        noting.cancel()


async def _note(call: RequestContext, game: str, visitor: Visitor) -> None:
    while True:
        await asyncio.sleep(people_game.PRESENCE_INTERVAL.total_seconds())
        with suppress(StoreError):
            await call.run(people_game.follows, call.arena, game, visitor)
