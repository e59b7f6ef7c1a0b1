"""Who makes a request: a bearer token, or the cookie of a browser session."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from aiohttp import web

from arena.http.problem import Problem, too_many
from arena.http.request_context import CONTEXT, IDENTITY, RequestContext, WebContext, address_key
from arena.services.account import LoginOrigin, TooManyTriesError, is_trusted_origin
from arena.services.arena import Arena
from arena.store.base.credentials import digest_of
from arena.store.people.users import Identity

P = ParamSpec("P")
T = TypeVar("T")

_BEARER = re.compile(r"Bearer +(arena_[A-Za-z0-9_-]{43})", re.IGNORECASE | re.ASCII)
_COOKIE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_SESSION: web.RequestKey[tuple[Identity | None]] = web.RequestKey("session", tuple)
"""Looked up once a request, whoever asks."""
CSRF_HEADER = "X-CSRF-Token"
DEVICE_COOKIE = "arena-device"
"""Tells a browser that has logged in before: it is not shut out by wrong passwords that others try."""
SAFE = ("GET", "HEAD", "OPTIONS")


def cookie_name(is_https: bool) -> str:
    """The session's cookie; `__Host-` binds it to this very host, but browsers take it over https only."""
    return "__Host-arena" if is_https else "arena"


async def identify(request: web.Request) -> Identity | None:
    """Who asks; None for nobody in particular. Raises Problem for a token that is no good, or a forged form."""
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
                f"a browser session's writes carry its token in {CSRF_HEADER}",
                hint="reload the page and try again; programs use a bearer token instead",
            )
    if identity:
        request[IDENTITY] = identity
    return identity


async def _bearer(request: web.Request, context: WebContext) -> Identity:
    given = request.headers.getall("Authorization")
    found = _BEARER.fullmatch(given[0].strip()) if len(given) == 1 else None
    if found is None:
        raise await _refused(request, context, "the Authorization header holds no token of this arena")
    identity = await asyncio.to_thread(context.store.users.by_token, digest_of(found[1]))
    if identity is None:
        reason = await asyncio.to_thread(context.store.users.why_useless, digest_of(found[1]))
        raise await _refused(request, context, reason)
    return identity


async def _refused(request: web.Request, context: WebContext, detail: str) -> Problem:
    """Wrong tokens are answered so often and no more; nobody guesses 256 bits, and good tokens do not come here."""
    if wait := await context.limiters["wrong-token"].admit(address_key(request)):
        return too_many(wait)
    return Problem(
        "unauthorised",
        detail,
        hint="send Authorization: Bearer arena_…; make one on the account page or by `arena login`",
        headers={"WWW-Authenticate": 'Bearer realm="arena", error="invalid_token"'},
    )


async def with_name_and_password(
    call: RequestContext, use: Callable[[Arena, str, str, LoginOrigin], T], name: str, password: str
) -> T:
    """A use case that takes the name and the password of somebody who is not logged in. Raises as `with_password`."""
    place = place_of(call.request)
    context = call.context
    is_known = await call.run(is_trusted_origin, call.arena, name, place)
    async with (context.trusted_password_queue if is_known else context.password_queue).turn(call.key):
        return await _tried(call, use, call.arena, name, password, place)


async def with_password(call: RequestContext, use: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """A use case of somebody who is logged in that hashes or checks a password: few at a time.

    Raises Problem (429 for too many wrong ones, 503 when too many wait) and what the use case raises.
    """
    async with call.context.trusted_password_queue.turn(call.key):
        return await _tried(call, use, *args, **kwargs)


async def _tried(call: RequestContext, use: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return await call.run(use, *args, **kwargs)
    except TooManyTriesError as error:
        raise too_many(error.wait_s) from None


def place_of(request: web.Request) -> LoginOrigin:
    """From where somebody logs in."""
    device = request.cookies.get(DEVICE_COOKIE, "")
    return LoginOrigin(address_key(request), device if _COOKIE.fullmatch(device) else "")


async def session_of(request: web.Request) -> Identity | None:
    """Who is logged in by cookie."""
    context = request.app[CONTEXT]
    if _SESSION not in request:
        value = request.cookies.get(cookie_name(context.is_https), "")
        found = None
        if _COOKIE.fullmatch(value):
            found = await asyncio.to_thread(context.store.users.by_login, digest_of(value))
        request[_SESSION] = (found,)
    return request[_SESSION][0]


def is_same_origin(request: web.BaseRequest) -> bool:
    """Whether the browser says that a page of this very host sent the request, or says nothing."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("Origin")
    return origin is None or origin.partition("://")[2] == request.host


def is_from_own_page(request: web.BaseRequest, identity: Identity, token: str | None = None) -> bool:
    """Whether a write carries the session's token (by header, or `token` from a form) and comes from our own pages."""
    given = token if token is not None else request.headers.get(CSRF_HEADER, "")
    is_ours = secrets.compare_digest(given.encode("utf-8", "replace"), (identity.csrf or "").encode())
    return bool(identity.csrf) and is_ours and is_same_origin(request)
