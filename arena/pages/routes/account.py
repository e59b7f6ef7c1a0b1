"""The logged-in user's account: notices, bots, profile, password, and tokens, which are shown only once."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import quote

from aiohttp import web

from arena import services
from arena.clock import now
from arena.documents.account import Identity, Notice
from arena.documents.columns import BOTS, TOKENS
from arena.documents.table import Column, page_columns, text_column
from arena.errors import ForbiddenError
from arena.http.identity import place_of, session_of, with_password
from arena.http.problem import Problem
from arena.http.request_context import CONTEXT, IDENTITY, RequestContext
from arena.pages.filters import plain
from arena.pages.html_table import sorted_table
from arena.pages.language import headed, marked, text, translated
from arena.pages.page import allow_parameters, arena_of, error_sentence, redirect, render, run, run_use_case
from arena.pages.session import begin_session, checked_form
from referee.errors import ArenaError

routes = web.RouteTableDef()
MAX_NOTIFICATIONS = 5
"""Maximum number of notices that a browser shows at once."""
EVENTS = {
    "check": marked("check of a bot"),
    "fault": marked("forfeit"),
    "suspension": marked("suspension"),
    "tournament": marked("tournament finished"),
    "version": marked("new version"),
}
"""What happened, by kind of notice."""
PAGES = {
    "check": "/submissions/",
    "fault": "/games/",
    "suspension": "/tournaments/",
    "tournament": "/tournaments/",
    "version": "/submissions/",
}
"""Page of what a notice is about, without its key."""
SCOPES = {
    "read": marked("reading what you may read"),
    "submit": marked("submitting and managing bots"),
    "organise": marked("managing tournaments"),
    "admin": marked("administration"),
    "worker": marked("downloading bundles as a worker"),
}
"""What each scope of a token allows."""
DAYS = (30, 90, 365, 0)
"""Lifetimes of a token, in days; 0 is unlimited."""
_NEWS: tuple[Column[Notice], ...] = (
    Column("at", "When", lambda notice: notice.at, "news", is_number=False, css="w"),
    text_column("kind", "Event", lambda notice: notice.kind, "happening", is_heading=True),
)


async def _show(request: web.Request, identity: Identity, *, status: int = 200, **more: Any) -> web.Response:
    details = await run(services.account.details, arena_of(request), identity)
    shown = {
        "events": EVENTS,
        "pages": PAGES,
        "notices": sorted_table(request, _NEWS, details.notices, parameter="news"),
        "bots": sorted_table(
            request, page_columns(BOTS, ("owner", "versions", "created_at")), details.bots, parameter="bots"
        ),
        "tokens": sorted_table(request, TOKENS, details.tokens, parameter="tokens"),
        "followed": await run(services.follow.read, arena_of(request), identity),
        "usage": details.account,
        "profile": details.account,
        "read_until": details.read_until,
        "unread": sum(details.read_until is None or notice.at > details.read_until for notice in details.notices),
        "secret": "",
        "problem": "",
        "password_problem": "",
        "about_problem": "",
        "email_problem": "",
    }
    return render(
        request, "account.html", status=status, keep="no-store", me=identity, days=DAYS, scopes=SCOPES, **(shown | more)
    )


@routes.get("/account")
@allow_parameters("news", "bots", "tokens")
async def show(request: web.Request) -> web.Response:
    """Show the account page, or redirect to the log-in form."""
    identity = await session_of(request)
    if identity is None:
        return redirect("/login?next=/account")
    return await _show(request, identity)


@routes.get("/account/notices.json")
@allow_parameters()
async def unread(request: web.Request) -> web.Response:
    """List the latest unread notices, oldest first, for notifications of the browser; times are in milliseconds."""
    identity = await session_of(request)
    if identity is None:
        raise Problem("unauthorised", "log in to read your notices")
    notices = await run(services.account.unread, arena_of(request), identity)
    items = [
        {
            "at": round(notice.at.timestamp() * 1000),
            "title": plain(notice.name, 120),
            "body": headed(translated(EVENTS[notice.kind]), translated(notice.what)),
            "address": f"{PAGES[notice.kind]}{notice.key}",
        }
        for notice in reversed(notices[:MAX_NOTIFICATIONS])
    ]
    body = {"now": round(now().timestamp() * 1000), "items": items}
    return web.json_response(body, headers={"Cache-Control": "no-store"})


@routes.post("/account/read")
async def mark_read(request: web.Request) -> web.Response:
    """Mark all notices as read."""
    await checked_form(request)
    await run(services.account.mark_read, arena_of(request), request[IDENTITY])
    return redirect("/account#news")


@routes.post("/account/follow")
async def follow(request: web.Request) -> web.Response:
    """Begin or end following a bot, a tournament or a person, and return to its page."""
    fields = await checked_form(request)
    kind, key, is_followed = fields.get("kind", ""), fields.get("key", ""), fields.get("follow") == "yes"
    await run(partial(services.follow.change, is_followed=is_followed), arena_of(request), kind, key, request[IDENTITY])
    return redirect("/account#following" if fields.get("from") == "account" else f"/{kind}s/{quote(key, safe='')}")


@routes.post("/account/about")
async def describe(request: web.Request) -> web.Response:
    """Update the user's public profile."""
    fields = await checked_form(request)
    about, link = fields.get("about", "").replace("\r\n", "\n"), fields.get("link", "")
    try:
        await run_use_case(services.account.update_profile, arena_of(request), request[IDENTITY], about, link)
    except ArenaError as error:
        profile = {"about": about, "link": link}
        return await _show(
            request, request[IDENTITY], status=error.status, about_problem=error_sentence(error), profile=profile
        )
    return redirect("/account#about")


@routes.post("/account/email")
async def change_email(request: web.Request) -> web.Response:
    """Set or remove the address to which links to reset the password are sent."""
    fields = await checked_form(request)
    call = RequestContext(request, request.app[CONTEXT], request[IDENTITY])
    password, email = fields.get("password", "")[:1001], fields.get("email", "")
    try:
        await with_password(
            call, services.account.change_email, call.arena, call.user, password, email, place_of(request)
        )
    except ArenaError as error:
        return _with_wait(
            error, await _show(request, call.user, status=error.status, email_problem=error_sentence(error))
        )
    return redirect("/account#email")


@routes.post("/account/tokens")
async def make(request: web.Request) -> web.Response:
    """Create a token and show its secret, which is never shown again."""
    fields = await checked_form(request)
    identity = request[IDENTITY]
    name = fields.get("name", "").strip()
    scopes = [scope for scope in sorted(identity.scopes) if fields.get(f"scope-{scope}")]
    days = fields.get("days", "")
    if days not in {str(choice) for choice in DAYS}:
        return await _show(request, identity, status=422, problem=text("Choose a lifetime from the list."))
    try:
        made = await run_use_case(services.user.create_token, arena_of(request), name, scopes, int(days), identity)
    except ArenaError as error:
        return await _show(request, identity, status=error.status, problem=error_sentence(error))
    return await _show(request, identity, secret=made.token, secret_name=name)


@routes.post("/account/tokens/revoke")
async def revoke(request: web.Request) -> web.Response:
    """Revoke a token."""
    fields = await checked_form(request)
    text = fields.get("token", "")
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise Problem("bad-request", "missing token id")
    await run_use_case(services.user.revoke_token, arena_of(request), int(text), request[IDENTITY])
    return redirect("/account#tokens")


@routes.post("/account/password")
async def change_password(request: web.Request) -> web.Response:
    """Change the password. This browser stays logged in; all other sessions end."""
    fields = await checked_form(request)
    call = RequestContext(request, request.app[CONTEXT], request[IDENTITY])
    try:
        if fields.get("new", "") != fields.get("again", ""):
            raise ForbiddenError("the two new passwords differ")
        session = await with_password(
            call,
            services.account.change_password,
            call.arena,
            call.user,
            fields.get("password", "")[:1001],
            fields.get("new", ""),
            place_of(request),
            revoke_tokens=bool(fields.get("revoke")),
        )
    except ArenaError as error:
        return _with_wait(
            error, await _show(request, call.user, status=error.status, password_problem=error_sentence(error))
        )
    response = redirect("/account#password")
    begin_session(response, call.context, session)
    return response


def _with_wait(error: ArenaError, response: web.Response) -> web.Response:
    """Return the page of an error, with the header `Retry-After` if the error has one."""
    if isinstance(error, Problem) and "Retry-After" in error.headers:
        response.headers["Retry-After"] = error.headers["Retry-After"]
    return response
