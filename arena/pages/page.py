"""Parts of page routes: render templates, cache responses, run blocking code, read addresses."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote
from weakref import WeakSet

import aiohttp_jinja2
from aiohttp import web
from markupsafe import Markup
from pydantic import ValidationError
from yarl import URL

from arena import feature
from arena.documents.words import FORMS
from arena.errors import BadValueError
from arena.feature import Installed, Part, Place, Room
from arena.http.identity import cookie_name
from arena.http.middleware import is_data
from arena.http.problem import Problem, not_found, quoted
from arena.http.request_context import CONTEXT
from arena.log import logger
from arena.pages import language
from arena.pages.drawing.replay import Replays
from arena.pages.drawing.scene import AnalysisLines
from arena.services.arena import Arena
from referee.errors import ArenaError, near
from referee.rules import families, family_named, load
from referee.rules.rules import Rules
from referee.validation import Model, adapter_of, misfits

_logger = logger("pages")
P = ParamSpec("P")
T = TypeVar("T")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
ContextProvider = Callable[[web.Request], Awaitable[dict[str, Any]]]

ANALYSIS_LINES: web.AppKey[AnalysisLines] = web.AppKey("free-lines", AnalysisLines)
CONTEXT_PROVIDERS: web.AppKey[Sequence[ContextProvider]] = web.AppKey("surroundings", Sequence)
"""Functions that supply the variables common to all templates."""
FEATURES: web.AppKey[Sequence[Installed]] = web.AppKey("features", Sequence)
"""The features that take part in the pages."""
REPLAYS: web.AppKey[Replays] = web.AppKey("replays", Replays)

FRAMES_PER_TOKEN = 10
"""Frames of an animated picture, or diagrams of a booklet, that count as one request."""
GAME_ID = re.compile(r"[0-9a-f]{16,32}")
PAGES: Mapping[str, str] = {
    "tournaments": language.marked("Tournaments"),
    "bots": language.marked("Bots"),
    "games": language.marked("Games"),
    "submit": language.marked("Submit a bot"),
    "account": language.marked("Account"),
    "errors": language.marked("Errors"),
    "workers": language.marked("Workers"),
    "archive": language.marked("Archive"),
    "dumps": language.marked("Dumps of all games"),
    "docs": language.marked("Docs"),
    "login": language.marked("Log in"),
    "play": language.marked("Play"),
    "problems": language.marked("Problems"),
    "rankings": language.marked("Rankings"),
    "explore": language.marked("Explore"),
}
"""First path segments of other pages with their titles, to suggest after a typing error."""

_CACHED_HANDLERS: WeakSet[Handler] = WeakSet()
"""The handlers of `cached_page`: they add the template context themselves, and only on a cache miss."""
_MAX_NUMBER = 2**31 - 1


async def run(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking function in a thread. A BadValueError concerns the address and becomes Problem (400)."""
    try:
        return await asyncio.to_thread(function, *args, **kwargs)
    except BadValueError as error:
        hint = error.hint or "open the first page of the list"
        raise Problem("bad-request", str(error), hint=hint, field=error.field, **error.extra) from None


async def run_use_case(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a use case in a thread. Its errors concern a form, whose page shows them: none becomes a Problem."""
    return await asyncio.to_thread(function, *args, **kwargs)


def read_fields(model: type[T], **fields: Any) -> T:
    """Return a document of type `model` from the fields of a form. Raises BadValueError for the first invalid field."""
    form: Model = model
    try:
        document: T = adapter_of(form).validate_python(fields)
    except ValidationError as error:
        first = misfits(error, form, forms=FORMS)[0]
        raise BadValueError(f"{first.field}: {first.problem}", field=first.field, hint=first.hint) from None
    return document


def error_sentence(error: ArenaError) -> str:
    """Return an error as a sentence to show above the form that caused it, in the language of the page."""
    return as_sentence(error_text(error))


def error_text(error: ArenaError) -> str:
    """Return what an error says and what to do about it, in the language of the page."""
    said, hint = language.translated(str(error)), language.translated(error.hint)
    return said + language.text("; ") + hint if hint else said


def as_sentence(text: str) -> str:
    """Return a text with a capital and a full stop. A name at its start, such as `bot.toml:`, stays as it is."""
    word = text.partition(" ")[0]
    return f"{text[:1].upper() if word.isalpha() else text[:1]}{text[1:]}."


@dataclass(frozen=True, slots=True)
class Card:
    """A card of the front page that a feature makes; its boards show pieces of these families."""

    html: Markup
    families: Collection[str] = ()


async def contributions(request: web.Request, part: Part, *values: object) -> list[Any]:
    """Return what the features bring to a page, such as cards. What fails is left out: the page is of the core."""
    made = await asyncio.gather(*(_contribution(request, entry, part, values) for entry in request.app[FEATURES]))
    return [content for content in made if content is not None]


async def _contribution(request: web.Request, entry: Installed, part: Part, values: Sequence[object]) -> Any:
    try:
        for make in feature.loaded([entry], part):
            return await make(request, *values)
    except Exception as error:
        _logger.error("a part of a page fails", feature=entry.name, part=part, exc_info=error)
    return None


def navigation(app: web.Application) -> dict[str, Any]:
    """Return the template variables of the navigation: what features add to a room, and the addresses of /explore."""
    places = [place for installed in app.get(FEATURES, ()) if installed.feature for place in installed.feature.places]

    def in_room(room: Room, **values: str) -> list[Place]:
        quoted = {name: quote(value, safe="") for name, value in values.items()}
        return [replace(place, address=place.address.format(**quoted)) for place in places if place.room == room]

    return {"places_in": in_room, "explored": ("/archive", "/dumps", *(place.address for place in in_room("explore")))}


def arena_of(request: web.Request) -> Arena:
    """Return the `Arena` of the application: what services need, such as the store."""
    return request.app[CONTEXT].arena


def render(
    request: web.Request, template: str, *, status: int = 200, keep: str = "no-cache", **context: Any
) -> web.Response:
    """Render a page from a template. `keep` is its `Cache-Control`."""
    text = aiohttp_jinja2.render_string(template, request, context)
    response = web.Response(text=text, status=status, content_type="text/html", charset="utf-8")
    response.enable_compression()
    return in_a_language(response, keep)


def in_a_language(response: web.Response, keep: str) -> web.Response:
    """Let caches keep one copy of an answer for each language; `keep` is its `Cache-Control`."""
    response.headers["Cache-Control"] = keep
    response.headers["Vary"] = "Cookie, Accept-Language"
    return response


async def add_template_context(request: web.Request) -> None:
    """Collect the variables common to all templates, before the page is rendered."""
    found: dict[str, Any] = {}
    for provide in request.app[CONTEXT_PROVIDERS]:
        found |= await provide(request)
    request[aiohttp_jinja2.REQUEST_CONTEXT_KEY] = found


@web.middleware
async def template_context_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Add the template context to page requests, except for data and for handlers with cached responses."""
    if not is_data(request) and request.match_info.handler not in _CACHED_HANDLERS:
        await add_template_context(request)
    return await handler(request)


def allow_parameters(*names: str) -> Callable[[Handler], Handler]:
    """Restrict a handler to these query parameters; others raise Problem (400)."""

    def known_only(handler: Handler) -> Handler:
        @wraps(handler)
        async def answer(request: web.Request) -> web.StreamResponse:
            for name in request.query:
                if name not in (*names, language.PARAMETER):
                    similar, url = near(name, names), request.rel_url
                    raise Problem(
                        "bad-request",
                        f"this page has no parameter {quoted(name)}",
                        hint="" if similar else f"allowed: {', '.join(names) or 'none'}",
                        field=name[:60],
                        near=[_renamed(url, name, right) for right in similar] or [str(url.without_query_params(name))],
                    )
            return await handler(request)

        return answer

    return known_only


def _renamed(url: URL, wrong: str, right: str) -> str:
    """Return an address with another name of a parameter, whose values stay."""
    return str(url.with_query([(right if name == wrong else name, value) for name, value in url.query.items()]))


def cached_page(handler: Handler, extra: Callable[[web.Request], Hashable] | None = None) -> Handler:
    """Wrap the handler of a public page in the response cache.

    `extra` returns inputs of the page other than the database.
    """

    async def answer(request: web.Request) -> web.StreamResponse:
        async def make() -> web.StreamResponse:
            await add_template_context(request)
            return await handler(request)

        context = request.app[CONTEXT]
        inputs = extra(request) if extra else None
        return await context.responses.answer(
            request, cookie_name(context.is_https), make, inputs, variant=language.current()
        )

    _CACHED_HANDLERS.add(answer)
    return answer


def redirect(location: str) -> web.Response:
    """Redirect to another page of this site, by GET (303)."""
    return web.Response(status=303, headers={"Location": location, "Cache-Control": "no-store"})


def redirect_permanently(location: str) -> web.Response:
    """Redirect an old address to its permanent successor (308)."""
    return web.Response(status=308, headers={"Location": location, "Cache-Control": "public, max-age=3600"})


def path_number(request: web.Request, name: str, what: str) -> int:
    """Return a number in the path. Raises Problem (404)."""
    text = request.match_info[name]
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and 0 < int(text) <= _MAX_NUMBER):
        raise not_found(what, text)
    return int(text)


def path_family(request: web.Request) -> Rules:
    """Return the rules of the family in the path. Raises Problem (404) with the nearest names."""
    name = request.match_info["family"]
    if (known := family_named(name)) in families() and name != known:
        path = request.path.replace(name, known, 1)
        raise web.HTTPPermanentRedirect(str(request.rel_url.with_path(path, keep_query=True)))
    if name not in families():
        raise not_found("page or family", name, [*families(), *PAGES])
    return load(name)
