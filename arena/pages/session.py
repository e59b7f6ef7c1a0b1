"""Log-in and log-out by browser: the form, the session cookie, and CSRF tokens of all forms."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from aiohttp import web

from arena import services
from arena.credentials import new_secret
from arena.documents.account import Identity
from arena.errors import StoreError, UnauthorisedError
from arena.http.identity import (
    DEVICE_COOKIE,
    SESSION_COOKIE,
    cookie_name,
    give_cookie,
    is_from_own_page,
    is_same_origin,
    read_cookie,
    session_of,
    with_name_and_password,
)
from arena.http.problem import Problem
from arena.http.request_context import CONTEXT, IDENTITY, RequestContext, WebContext
from arena.http.upload import BODY_TIMEOUT_S, time_limit
from arena.pages.language import marked, translated
from arena.pages.page import allow_parameters, error_sentence, redirect, render

routes = web.RouteTableDef()
FORM_BYTES = 64 * 1024
_LOGIN_FORM_COOKIE = "arena-form"
"""Cookie that ties the log-in form to this browser before there is a session."""
_YEAR_S = 365 * 24 * 3600


async def read_form(request: web.Request, file: str = "") -> dict[str, str]:
    """Return the fields of a form. `file` names the field that may hold a file; its text is returned.

    Raises Problem for other files, repeated fields, and a body that is too large.
    """
    if request.content_type not in ("application/x-www-form-urlencoded", "multipart/form-data" if file else ""):
        raise Problem("media-type", "expected a form")
    if (request.content_length or 0) > FORM_BYTES:
        raise Problem("too-large", f"a form may have at most {FORM_BYTES:,} bytes", limit=FORM_BYTES)
    try:
        async with time_limit(BODY_TIMEOUT_S):
            fields = await request.post()
    except (ValueError, LookupError) as error:
        raise Problem("bad-request", "the form cannot be read") from error
    texts: dict[str, str] = {}
    for name, value in fields.items():
        if name == file and isinstance(value, web.FileField):
            value = value.file.read().decode("utf-8", "replace")
        if name in texts or not isinstance(value, str):
            raise Problem("invalid", "a field is repeated or is a file", field=name[:60])
        texts[name] = value
    return texts


async def checked_form(request: web.Request, file: str = "") -> dict[str, str]:
    """Return the form of a logged-in user with a valid CSRF token, and set the request's identity. Raises Problem."""
    fields = await read_form(request, file)
    identity = await session_of(request)
    if identity is None:
        raise Problem("unauthorised", "you are not logged in", hint="log in and send the form again")
    if not is_from_own_page(request, identity, fields.get("csrf", "")):
        raise Problem("forbidden", "the form has expired", hint="reload the page and send it again")
    request[IDENTITY] = identity
    return fields


async def own_form(request: web.Request) -> dict[str, str]:
    """Return a form of this site, sent with or without a log-in. Raises Problem for one from elsewhere."""
    fields = await read_form(request)
    if not is_same_origin(request):
        raise Problem("forbidden", "the form does not come from this site", hint="reload the page and send it again")
    return fields


async def require_scope(request: web.Request, scope: str, refusal: Problem) -> Identity:
    """Return the user who is logged in, as the request's identity.

    Raises a redirect to the log-in form, and the refusal if the user lacks the scope.
    """
    identity = await session_of(request)
    if identity is None:
        target = f"/login?next={quote(request.rel_url.raw_path)}"
        raise web.HTTPSeeOther(target, headers={"Cache-Control": "no-store"})
    if scope not in identity.scopes:
        raise refusal
    request[IDENTITY] = identity
    return identity


async def context(request: web.Request) -> dict[str, Any]:
    """Return the template variables for the logged-in user: identity and CSRF token."""
    try:
        identity = await session_of(request) if request.cookies else None
    except StoreError:  # the page reports it, if it needs the database
        identity = None
    return {"identity": identity, "csrf": identity.csrf if identity else ""}


def local_target(target: str) -> str:
    """Return the address to open after log-in: a path of this site, whatever the link contains."""
    # Browsers read a backslash as a slash (WHATWG URL): both beginnings name another host.
    is_ours = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target[:500] if is_ours else "/"


def begin_session(response: web.StreamResponse, context: WebContext, session: services.account.BrowserSession) -> None:
    """Set the cookies of the session and of the device, which is recognised at the next log-in."""
    give_cookie(response, context, SESSION_COOKIE, session.secret, session.seconds)
    give_cookie(response, context, DEVICE_COOKIE, session.device, _YEAR_S)


def drop_cookie(response: web.StreamResponse, context: WebContext, name: str) -> None:
    """Delete a cookie that `give_cookie` has set."""
    # Browsers ignore a cookie with the prefix __Host-, hence also its deletion, without these attributes.
    name = cookie_name(context.is_https, name)
    response.del_cookie(name, path="/", secure=context.is_https, httponly=True, samesite="Lax")


def stranger_form(request: web.Request, template: str, *, status: int = 200, **shown: Any) -> web.Response:
    """Render a form for a visitor who is not logged in; a cookie ties it to this browser until it is sent."""
    token = new_secret()
    shown["problem"] = translated(shown.get("problem", ""))
    response = render(request, template, status=status, keep="no-store", token=token, **shown)
    give_cookie(response, request.app[CONTEXT], _LOGIN_FORM_COOKIE, token, 3600)
    return response


def is_own_form(request: web.Request, fields: Mapping[str, str]) -> bool:
    """Return whether `stranger_form` gave this form to this browser."""
    given, expected = fields.get("token", ""), read_cookie(request, _LOGIN_FORM_COOKIE)
    is_ours = bool(expected) and secrets.compare_digest(given.encode("utf-8", "replace"), expected.encode())
    return is_ours and is_same_origin(request)


def logged_in(request: web.Request, target: str, session: services.account.BrowserSession) -> web.Response:
    """Redirect a person who has just logged in by a `stranger_form`, and set the cookies of their session."""
    context = request.app[CONTEXT]
    response = redirect(target)
    begin_session(response, context, session)
    drop_cookie(response, context, _LOGIN_FORM_COOKIE)
    return response


EXPIRED = marked("The form has expired. Please try again.")


def _form(request: web.Request, target: str, problem: str = "", status: int = 200) -> web.Response:
    registration = request.app[CONTEXT].settings.registration
    return stranger_form(request, "login.html", status=status, next=target, problem=problem, registration=registration)


@routes.get("/login")
@allow_parameters("next")
async def show(request: web.Request) -> web.Response:
    """Show the log-in form; `?next=` is the address to open afterwards."""
    return _form(request, local_target(request.query.get("next", "/")))


@routes.post("/login")
async def log_in(request: web.Request) -> web.Response:
    """Check name and password, and start a new session. A session cookie of the request is ignored."""
    context = request.app[CONTEXT]
    fields = await read_form(request)
    target = local_target(fields.get("next", "/"))
    if not is_own_form(request, fields):
        return _form(request, target, EXPIRED, 403)
    call = RequestContext(request, context, None)
    try:
        session = await with_name_and_password(
            # One letter more than a password may have: a longer text must fail, not pass by its beginning.
            call,
            services.account.log_in,
            fields.get("user", "")[:40],
            fields.get("password", "")[:1001],
        )
    except (Problem, UnauthorisedError) as error:
        response = _form(request, target, error_sentence(error), error.status)
        if isinstance(error, Problem) and "Retry-After" in error.headers:
            response.headers["Retry-After"] = error.headers["Retry-After"]
        return response
    return logged_in(request, target, session)


@routes.post("/logout")
async def log_out(request: web.Request) -> web.Response:
    """End the session in the browser and on the server."""
    context = request.app[CONTEXT]
    await checked_form(request)
    await asyncio.to_thread(services.account.log_out, context.arena, read_cookie(request, SESSION_COOKIE))
    response = web.Response(status=303, headers={"Location": "/", "Cache-Control": "no-store"})
    drop_cookie(response, context, SESSION_COOKIE)
    return response
