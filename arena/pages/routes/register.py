"""Pages for visitors who are not logged in: registration, and setting a new password by a secret link."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from arena import services
from arena.errors import ForbiddenError
from arena.http.identity import place_of, session_of
from arena.http.request_context import CONTEXT, RequestContext, address_key
from arena.pages.language import text
from arena.pages.page import allow_parameters, arena_of, error_sentence, redirect, run_use_case
from arena.pages.session import EXPIRED, is_own_form, local_target, logged_in, read_form, stranger_form
from referee.errors import ArenaError

routes = web.RouteTableDef()
_MAILING: set[asyncio.Task[None]] = set()
"""Mails on their way, so that their tasks are not collected."""


async def _register_form(
    request: web.Request, given: dict[str, str], problem: str = "", status: int = 200
) -> web.Response:
    arena, invitation = arena_of(request), given.get("invitation", "")
    return stranger_form(
        request,
        "register.html",
        status=status,
        problem=problem,
        given={"user": "", "email": "", "invitation": invitation, **given},
        next=local_target(given.get("next", "/submit")),
        is_open=await run_use_case(services.registration.is_open, arena, invitation),
        registration=arena.settings.registration,
    )


@routes.get("/register")
@allow_parameters("invitation", "next")
async def show(request: web.Request) -> web.Response:
    """Show the form that creates an account; `?invitation=` is the secret of an invitation."""
    if await session_of(request):
        return redirect("/account")
    return await _register_form(request, dict(request.query))


@routes.post("/register")
async def register(request: web.Request) -> web.Response:
    """Create an account and log in."""
    fields = await read_form(request)
    given = {name: fields.get(name, "").strip()[:300] for name in ("user", "email", "invitation", "next")}
    if not is_own_form(request, fields):
        return await _register_form(request, given, EXPIRED, 403)
    context = request.app[CONTEXT]
    call = RequestContext(request, context, None)
    try:
        if wait := await context.limiters["registration"].admit(address_key(request)):
            return await _register_form(request, given, _too_many(wait), 429)
        async with context.password_queue.turn(call.key):
            session = await call.run(
                services.registration.register,
                context.arena,
                given["user"],
                fields.get("password", "")[:1001],
                place_of(request),
                email=given["email"],
                invitation=given["invitation"],
            )
    except ArenaError as error:
        if error.status >= 500 and error.kind != "unavailable":
            raise
        return await _register_form(request, given, error_sentence(error), error.status)
    return logged_in(request, local_target(given["next"] or "/submit"), session)


def _too_many(wait_s: float) -> str:
    minutes = max(1, round(wait_s / 60))
    return text("Too many attempts from your address; try again in %(minutes)s min.") % {"minutes": minutes}


def _reset_form(request: web.Request, *, status: int = 200, **shown: Any) -> web.Response:
    more = {"secret": "", "user": "", "problem": "", "is_sent": False}
    can_mail = bool(request.app[CONTEXT].settings.smtp)
    return stranger_form(request, "reset.html", status=status, can_mail=can_mail, **(more | shown))


@routes.get("/reset")
@allow_parameters("secret")
async def show_reset(request: web.Request) -> web.Response:
    """Show the form that requests a link, or with the `?secret=` of a link the form that sets a new password."""
    secret = request.query.get("secret", "")
    if not secret:
        return _reset_form(request)
    try:
        user = await run_use_case(services.registration.resets, arena_of(request), secret)
    except ArenaError as error:
        return _reset_form(request, problem=error_sentence(error), status=error.status)
    return _reset_form(request, secret=secret, user=user)


@routes.post("/reset/request")
async def request_reset(request: web.Request) -> web.Response:
    """Send a link by mail if an account matches; the response is the same if none does."""
    fields, context = await read_form(request), request.app[CONTEXT]
    if not is_own_form(request, fields):
        return _reset_form(request, problem=EXPIRED, status=403)
    if not context.settings.smtp:
        raise ForbiddenError("this arena sends no mail", hint="ask the operator for a link")
    if wait := await context.limiters["registration"].admit(address_key(request)):
        return _reset_form(request, problem=_too_many(wait), status=429)
    task = asyncio.create_task(
        asyncio.to_thread(
            services.registration.request_reset, context.arena, fields.get("user", "").strip()[:254], text
        )
    )
    _MAILING.add(task)
    task.add_done_callback(_MAILING.discard)
    return _reset_form(request, is_sent=True)


@routes.post("/reset")
async def reset(request: web.Request) -> web.Response:
    """Set a new password for the user of a secret link."""
    fields, context = await read_form(request), request.app[CONTEXT]
    secret, user = fields.get("secret", "")[:100], ""
    if not is_own_form(request, fields):
        return _reset_form(request, problem=EXPIRED, status=403)
    call = RequestContext(request, context, None)
    try:
        user = await call.run(services.registration.resets, context.arena, secret)
        if fields.get("new", "") != fields.get("again", ""):
            raise ForbiddenError("the two new passwords differ")
        async with context.password_queue.turn(call.key):
            await call.run(
                services.registration.reset,
                context.arena,
                secret,
                fields.get("new", "")[:1001],
                revoke_tokens=bool(fields.get("revoke")),
            )
    except ArenaError as error:
        if error.status >= 500 and error.kind != "unavailable":
            raise
        shown = {"secret": secret, "user": user} if user else {}
        return _reset_form(request, problem=error_sentence(error), status=error.status, **shown)
    return redirect("/login")
