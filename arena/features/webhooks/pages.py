"""Pages of webhooks, for administrators: add and remove them, send a test, and see what was delivered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aiohttp import web
from markupsafe import Markup

from arena.documents.account import Identity
from arena.documents.table import Column, text_column
from arena.features.webhooks import service
from arena.features.webhooks.documents import DELIVERIES, FORMS, KINDS, Kind, WebhookItem
from arena.http.problem import Problem
from arena.pages import filters
from arena.pages.html_table import sorted_table
from arena.pages.language import marked, text, translated
from arena.pages.page import (
    allow_parameters,
    arena_of,
    error_sentence,
    path_number,
    redirect,
    render,
    run,
    run_use_case,
)
from arena.pages.session import checked_form, require_scope
from referee.errors import ArenaError

routes = web.RouteTableDef()
_WHEN: Mapping[Kind, str] = {
    "forfeit": marked("a bot lost a game by a forfeit"),
    "end": marked("a tournament ended"),
    "leader": marked("another version leads a pool"),
}
_STATES: Mapping[str, str] = {
    "waiting": marked("waiting"),
    "delivered": marked("delivered"),
    "failed": marked("failed"),
}


def _link(hook: WebhookItem) -> Markup:
    return Markup('<a href="/webhooks/{}"><bdi>{}</bdi></a>').format(hook.id, filters.plain(hook.url, 80))


_HOOKS: Sequence[Column[WebhookItem]] = (
    Column("id", "Webhook", lambda hook: hook.id, "id"),
    text_column("url", "Address", _link, order=lambda hook: hook.url, is_heading=True),
    text_column("form", "Form", lambda hook: hook.form),
    text_column("news", "News", lambda hook: ", ".join(translated(_WHEN[kind]) for kind in KINDS if kind in hook.news)),
)
_DELIVERIES = tuple(
    replace(column, cell=lambda delivery: translated(_STATES[delivery.state])) if column.key == "state" else column
    for column in DELIVERIES
)


async def _administrator(request: web.Request) -> Identity:
    """Return the user. Raises a redirect to the log-in form, or Problem (403)."""
    refusal = Problem("forbidden", "webhooks are for administrators", hint="ask one to add your address")
    return await require_scope(request, "admin", refusal)


@routes.get("/webhooks")
@allow_parameters("sort")
async def index(request: web.Request) -> web.Response:
    """List the webhooks, with a form that adds one."""
    await _administrator(request)
    return await _list(request)


async def _list(request: web.Request, *, status: int = 200, **more: Any) -> web.Response:
    hooks = await run(service.listed, arena_of(request))
    shown = {
        "hooks": sorted_table(request, _HOOKS, hooks),
        "kinds": [(kind, translated(_WHEN[kind])) for kind in KINDS],
        "forms": FORMS,
        "max_url": service.MAX_URL,
        "given": {},
        "added": None,
        "secret": "",
        "problem": "",
    }
    return render(request, "webhooks/webhooks.html", status=status, keep="no-store", **(shown | more))


@routes.post("/webhooks")
async def add(request: web.Request) -> web.Response:
    """Add a webhook, and show its secret, which is never shown again."""
    given = await checked_form(request)
    identity, news = await _administrator(request), [kind for kind in KINDS if given.get(f"news-{kind}")]
    try:
        if not news:
            raise Problem("invalid", "no kind of news was chosen", field="news")
        added, secret = await run_use_case(
            service.add, arena_of(request), given.get("url", "").strip(), news, given.get("form", ""), identity
        )
    except ArenaError as error:
        return await _list(request, status=error.status, given=given, problem=error_sentence(error))
    return await _list(request, added=added, secret=secret)


@routes.get("/webhooks/{number}")
@allow_parameters("sort")
async def one(request: web.Request) -> web.Response:
    """Show a webhook and its latest deliveries."""
    await _administrator(request)
    return await _show(request)


async def _show(request: web.Request, said: str = "", *, is_accepted: bool = False) -> web.Response:
    arena, number = arena_of(request), path_number(request, "number", "webhook")
    hook = await run(service.read, arena, number)
    return render(
        request,
        "webhooks/webhook.html",
        keep="no-store",
        hook=hook,
        news=[translated(_WHEN[kind]) for kind in KINDS if kind in hook.news],
        deliveries=sorted_table(request, _DELIVERIES, await run(service.deliveries, arena, number)),
        said=said,
        is_accepted=is_accepted,
    )


@routes.post("/webhooks/{number}/test")
async def send_test(request: web.Request) -> web.Response:
    """Send a test, and show the answer."""
    await checked_form(request)
    await _administrator(request)
    status, problem = await service.send_test(arena_of(request), path_number(request, "number", "webhook"))
    if problem:
        said = text("The test was not accepted: %(problem)s") % {"problem": translated(problem)}
    else:
        said = text("The test was accepted: HTTP %(status)s") % {"status": status}
    return await _show(request, said, is_accepted=not problem)


@routes.post("/webhooks/{number}/remove")
async def remove(request: web.Request) -> web.Response:
    """Remove a webhook, and return to the others."""
    await checked_form(request)
    identity = await _administrator(request)
    await run(service.remove, arena_of(request), path_number(request, "number", "webhook"), identity)
    return redirect("/webhooks")
