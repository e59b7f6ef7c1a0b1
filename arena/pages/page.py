"""What pages share: the store in a thread, answers from templates, names that must exist. Refuses to know any page."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from weakref import WeakSet

import aiohttp_jinja2
from aiohttp import web

from arena.errors import ArenaError, did_you_mean, near
from arena.http.identity import cookie_name
from arena.http.middleware import is_data
from arena.http.problem import Problem, not_found, quoted
from arena.http.request_context import CONTEXT
from arena.pages.collapsible import label_cells
from arena.pages.drawing.analysis_line import AnalysisLines
from arena.pages.drawing.replay import Replays
from arena.services.arena import Arena
from arena.store import BadValueError, Store
from referee.rules import families, family_named, load
from referee.rules.rules import Rules

P = ParamSpec("P")
T = TypeVar("T")

REPLAYS: web.AppKey[Replays] = web.AppKey("replays", Replays)
ANALYSIS_LINES: web.AppKey[AnalysisLines] = web.AppKey("free-lines", AnalysisLines)
_MAX_NUMBER = 2**31 - 1


async def run(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Something that blocks, in a thread. A cursor that is none is the address's fault: Problem (400)."""
    try:
        return await asyncio.to_thread(function, *args, **kwargs)
    except BadValueError as error:
        raise Problem("bad-request", str(error), hint="go back to the first page of the list") from None


async def run_use_case(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """A use case in a thread. What it raises is about the form, not about the address."""
    return await asyncio.to_thread(function, *args, **kwargs)


def error_sentence(error: ArenaError) -> str:
    """An error as a sentence above the form that it is about."""
    text = f"{error}; {error.hint}" if error.hint else str(error)
    return f"{text[:1].upper()}{text[1:]}."


def arena_of(request: web.Request) -> Arena:
    """What use cases get."""
    return request.app[CONTEXT].arena


def store_of(request: web.Request) -> Store:
    """The database."""
    return request.app[CONTEXT].store


def render(
    request: web.Request, template: str, *, status: int = 200, keep: str = "no-cache", **context: Any
) -> web.Response:
    """A page from a template. `keep` is its Cache-Control."""
    text = label_cells(aiohttp_jinja2.render_string(template, request, context))
    response = web.Response(text=text, status=status, content_type="text/html", charset="utf-8")
    response.headers["Cache-Control"] = keep
    response.headers["Vary"] = "Cookie"
    response.enable_compression()
    return response


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
ContextProvider = Callable[[web.Request], Awaitable[dict[str, Any]]]
CONTEXT_PROVIDERS: web.AppKey[Sequence[ContextProvider]] = web.AppKey("surroundings", Sequence)
"""What every template knows beside what its page says."""
_CACHED_HANDLERS: WeakSet[Handler] = WeakSet()
"""The handlers of `cached_page`: they look at the surroundings of a page when they make it."""


async def add_template_context(request: web.Request) -> None:
    """Find what stands around a page, before it is made."""
    found: dict[str, Any] = {}
    for look in request.app[CONTEXT_PROVIDERS]:
        found |= await look(request)
    request[aiohttp_jinja2.REQUEST_CONTEXT_KEY] = found


@web.middleware
async def template_context_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Find what stands around pages, but not for data, nor for a page that may have been made before."""
    if not is_data(request) and request.match_info.handler not in _CACHED_HANDLERS:
        await add_template_context(request)
    return await handler(request)


def allow_parameters(*names: str) -> Callable[[Handler], Handler]:
    """A page that refuses parameters of its address other than these, by name: Problem (400)."""

    def known_only(handler: Handler) -> Handler:
        @wraps(handler)
        async def answer(request: web.Request) -> web.StreamResponse:
            for name in request.query:
                if name not in names:
                    hint = did_you_mean(near(name, names)) or f"it takes {', '.join(names) or 'none'}"
                    raise Problem(
                        "bad-request", f"this page has no parameter {quoted(name)}", hint=hint, field=name[:60]
                    )
            return await handler(request)

        return answer

    return known_only


def cached_page(handler: Handler, extra: Callable[[web.Request], Hashable] | None = None) -> Handler:
    """A page that everybody without an account sees alike, made once as long as nothing has changed.

    `extra` is what it shows beside the database.
    """

    async def answer(request: web.Request) -> web.StreamResponse:
        async def make() -> web.StreamResponse:
            await add_template_context(request)
            return await handler(request)

        context = request.app[CONTEXT]
        more = extra(request) if extra else None
        return await context.responses.answer(request, cookie_name(context.is_https), make, more)

    _CACHED_HANDLERS.add(answer)
    return answer


def redirect(location: str) -> web.Response:
    """Lead to another page of ours, by GET."""
    return web.Response(status=303, headers={"Location": location, "Cache-Control": "no-store"})


def redirect_permanently(location: str) -> web.Response:
    """What stood here has another address now, for good."""
    return web.Response(status=308, headers={"Location": location, "Cache-Control": "public, max-age=3600"})


def path_number(request: web.Request, name: str, what: str) -> int:
    """A number in the address. Raises Problem (404)."""
    text = request.match_info[name]
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 0 < int(text) <= _MAX_NUMBER):
        raise not_found(what, text)
    return int(text)


def path_family(request: web.Request) -> Rules:
    """The family in the address. Raises Problem (404) with near names."""
    name = request.match_info["family"]
    if (known := family_named(name)) in families() and name != known:
        path = request.path.replace(name, known, 1)
        raise web.HTTPPermanentRedirect(str(request.rel_url.with_path(path, keep_query=True)))
    if name not in families():
        raise not_found("page or family", name, [*families(), *PAGES])
    return load(name)


PAGES = ("tournaments", "bots", "games", "submit", "account", "errors", "workers", "archive", "dumps", "help", "login")
"""The first segments of other pages, for those who mistype one."""

GAME_ID = re.compile(r"[0-9a-f]{16,32}")
