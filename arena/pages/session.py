"""Logging in and out with a browser: the form, the cookie, the token every form carries."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import aiohttp_jinja2
from aiohttp import web

from arena import services
from arena.errors import UnauthorisedError
from arena.http.identity import (
    DEVICE_COOKIE,
    cookie_name,
    is_from_own_page,
    is_same_origin,
    session_of,
    with_name_and_password,
)
from arena.http.problem import Problem
from arena.http.request_context import CONTEXT, IDENTITY, RequestContext, WebContext
from arena.http.upload import BODY_TIMEOUT_S, time_limit
from arena.pages.page import allow_parameters
from arena.store import StoreError
from arena.store.base.credentials import new_secret

routes = web.RouteTableDef()
FORM_BYTES = 64 * 1024
_BEFORE = "arena-form"
"""The cookie that ties the log-in form to this browser, where there is no session yet to do so."""
_YEAR_S = 365 * 24 * 3600


async def read_form(request: web.Request, file: str = "") -> dict[str, str]:
    """The fields of a form; `file` is the one that may be a file, of which the text is taken.

    Raises Problem for other files, for repeated and for endless fields.
    """
    if request.content_type not in ("application/x-www-form-urlencoded", "multipart/form-data" if file else ""):
        raise Problem("media-type", "this takes a plain form")
    if (request.content_length or 0) > FORM_BYTES:
        raise Problem("too-large", f"a form has {FORM_BYTES:,} bytes at most", limit=FORM_BYTES)
    try:
        async with time_limit(BODY_TIMEOUT_S):
            fields = await request.post()
    except (ValueError, LookupError) as error:
        raise Problem("bad-request", "the form cannot be read") from error
    found: dict[str, str] = {}
    for name, value in fields.items():
        if name == file and isinstance(value, web.FileField):
            value = value.file.read().decode("utf-8", "replace")
        if name in found or not isinstance(value, str):
            raise Problem("invalid", "a field is given twice, or is a file", field=name[:60])
        found[name] = value
    return found


async def checked_form(request: web.Request, file: str = "") -> dict[str, str]:
    """The form of somebody logged in, whose token is right: for every page that writes. Raises Problem."""
    fields = await read_form(request, file)
    identity = await session_of(request)
    if identity is None:
        raise Problem("unauthorised", "you are not logged in", hint="log in and send the form again")
    if not is_from_own_page(request, identity, fields.get("csrf", "")):
        raise Problem("forbidden", "the form is too old or not ours", hint="reload the page and send it again")
    request[IDENTITY] = identity
    return fields


async def context(request: web.Request) -> dict[str, Any]:
    """What every template knows: who is logged in, and the token of its forms. For `aiohttp_jinja2`."""
    try:
        identity = await session_of(request) if request.cookies else None
    except StoreError:  # the page itself says so, if it needs the database
        identity = None
    return {"identity": identity, "csrf": identity.csrf if identity else ""}


def _where(target: str) -> str:
    """Where to go after log-in: an address of our own, whatever a link says."""
    is_ours = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target[:500] if is_ours else "/"


def begin_session(response: web.StreamResponse, context: WebContext, session: services.account.BrowserSession) -> None:
    """Give the browser its session, and the mark by which it is known when it logs in again."""
    give_cookie(response, context, cookie_name(context.is_https), session.secret, session.seconds)
    give_cookie(response, context, DEVICE_COOKIE, session.device, _YEAR_S)


def give_cookie(response: web.StreamResponse, context: WebContext, name: str, value: str, seconds: int) -> None:
    """A cookie for the whole site, which no script may read."""
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        path="/",
        secure=context.settings.is_https,
        httponly=True,
        samesite="Lax",
    )


def _form(request: web.Request, target: str, problem: str = "", status: int = 200) -> web.Response:
    token = new_secret()
    response = aiohttp_jinja2.render_template(
        "login.html", request, {"token": token, "next": target, "problem": problem}, status=status
    )
    give_cookie(response, request.app[CONTEXT], _BEFORE, token, 3600)
    response.headers["Cache-Control"] = "no-store"
    return response


@routes.get("/login")
@allow_parameters("next")
async def show(request: web.Request) -> web.Response:
    """The log-in form; `?next=` is where it leads."""
    return _form(request, _where(request.query.get("next", "/")))


@routes.post("/login")
async def log_in(request: web.Request) -> web.Response:
    """Check name and password; a fresh session, whatever cookie came."""
    context = request.app[CONTEXT]
    fields = await read_form(request)
    target = _where(fields.get("next", "/"))
    given, expected = fields.get("token", ""), request.cookies.get(_BEFORE, "")
    is_ours = bool(expected) and secrets.compare_digest(given.encode("utf-8", "replace"), expected.encode())
    if not is_ours or not is_same_origin(request):
        return _form(request, target, "The form was too old; please try again.", 403)
    call = RequestContext(request, context, None)
    try:
        session = await with_name_and_password(
            call, services.account.log_in, fields.get("user", "")[:40], fields.get("password", "")[:1001]
        )
    except (Problem, UnauthorisedError) as error:
        response = _form(request, target, f"{error}.", error.status)
        if isinstance(error, Problem) and "Retry-After" in error.headers:
            response.headers["Retry-After"] = error.headers["Retry-After"]
        return response
    response = web.Response(status=303, headers={"Location": target, "Cache-Control": "no-store"})
    begin_session(response, context, session)
    response.del_cookie(_BEFORE, path="/")
    return response


@routes.post("/logout")
async def log_out(request: web.Request) -> web.Response:
    """End the session, on the server too."""
    context = request.app[CONTEXT]
    await checked_form(request)
    name = cookie_name(context.settings.is_https)
    await asyncio.to_thread(services.account.log_out, context.arena, request.cookies.get(name, ""))
    response = web.Response(status=303, headers={"Location": "/", "Cache-Control": "no-store"})
    response.del_cookie(name, path="/", secure=context.settings.is_https, httponly=True, samesite="Lax")
    return response
