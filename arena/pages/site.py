"""The site as a whole: templates with their filters, static files, and the routes of all pages.

Logging, security headers and errors are those of `arena.http.middleware`.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Hashable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp_jinja2
import jinja2
from aiohttp import web
from markupsafe import Markup

from arena import feature, services
from arena.clock import now
from arena.errors import StoreError
from arena.http.identity import session_of
from arena.http.request_context import CONTEXT
from arena.mail import contact_url
from arena.pages import filters, html_table, language, markdown, recurrence, schema, score_table, session, times
from arena.pages.drawing import plot
from arena.pages.drawing.replay import Replays
from arena.pages.drawing.scene import AnalysisLines
from arena.pages.page import (
    ANALYSIS_LINES,
    CONTEXT_PROVIDERS,
    FEATURES,
    REPLAYS,
    arena_of,
    cached_page,
    navigation,
    redirect_permanently,
    run,
    template_context_middleware,
)
from arena.pages.routes import (
    about,
    account,
    archive,
    archive_import,
    board_engine,
    booklet,
    bot,
    crawlers,
    documentation,
    dumps,
    explorer,
    feeds,
    free_board,
    game,
    games,
    home,
    leaderboard,
    organise,
    pictures,
    play,
    register,
    steering,
    submit,
    tournament,
    tournaments,
    workers,
)
from referee.machine.warmup import get_ready, is_cold
from referee.rules import families, load

_HERE = Path(__file__).parent
STATIC = _HERE / "static"


@cache
def _static_folders() -> Mapping[str, Path]:
    """Return the folders of static files by the start of their addresses: empty for that of the core."""
    of_features = {f"{one.name}/": one.folder("static") for one in feature.installed() if one.feature}
    return {"": STATIC, **{start: folder for start, folder in of_features.items() if folder.is_dir()}}


@cache
def fingerprint() -> str:
    """Return a digest of the static files. It is part of their addresses, so that browsers may cache them for ever."""
    total = hashlib.sha256()
    for folder in _static_folders().values():
        for path in sorted(folder.iterdir()):
            total.update(path.read_bytes())
    return total.hexdigest()[:10]


def asset(name: str) -> str:
    """Return the address of a static file; that of a feature has the name of the feature before it."""
    return f"/static/{name}?v={fingerprint()}"


def icon(name: str) -> Markup:
    """Return an icon of the sprite `icons.svg`, hidden from screen readers: a text follows it."""
    return Markup('<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>').format(asset("icons.svg"), name)


async def _frame_context(request: web.Request) -> dict[str, Any]:
    """Return the template variables of the page frame: navigation, canonical address, unread notices."""
    settings = request.app[CONTEXT].settings
    return {
        "path": request.path,
        **navigation(request.app),
        "query": request.query,
        "request_url": request.rel_url,
        "site_url": settings.public_url.rstrip("/"),
        "contact": settings.contact,
        "contact_url": contact_url(settings.contact),
        "canonical": _canonical(request),
        "family_titles": language.family_titles(),
        "unread": await _unread(request),
        "is_damaged": await asyncio.to_thread(arena_of(request).is_damaged),
    }


def _canonical(request: web.Request) -> str:
    """Return the canonical address of a page, with only `pool` of its query. An embedded game has that of its page."""
    path = request.path.removeprefix("/embed")
    pool = {"pool": request.query["pool"]} if "pool" in request.query else {}
    return request.app[CONTEXT].settings.public_url.rstrip("/") + str(request.rel_url.with_path(path).with_query(pool))


async def _unread(request: web.Request) -> int:
    """Return the number of unread notices of the logged-in user. The account page counts those that it shows."""
    if request.path.startswith("/account"):
        return 0
    try:
        identity = await session_of(request) if request.cookies else None
        return len(await run(services.account.unread, arena_of(request), identity)) if identity else 0
    except StoreError:  # the page reports it, if it needs the database
        return 0


async def static(request: web.Request) -> web.StreamResponse:
    """Serve a file of `static/`, of the core or of a feature; subfolders are not served."""
    folder = _static_folders().get(request.match_info.get("start", ""))
    if folder is None or request.match_info["name"] not in {file.name for file in folder.iterdir()}:
        raise web.HTTPNotFound
    path = folder / request.match_info["name"]
    keep = "public, max-age=31536000, immutable" if request.query.get("v") == fingerprint() else "public, max-age=300"
    response = web.Response(body=path.read_bytes(), headers={"Cache-Control": keep})
    response.content_type = _TYPES.get(path.suffix, "application/octet-stream")
    if response.content_type.startswith("text/"):
        response.charset = "utf-8"
    response.enable_compression()
    return response


async def _without_slash(request: web.Request) -> web.Response:
    """Redirect to the same address without its trailing slash."""
    path = "/" + request.path.strip("/")
    return redirect_permanently(str(request.rel_url.with_path(path, keep_query=True)))


_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}


def setup(app: web.Application, disabled: Collection[str] = ()) -> None:
    """Add templates, static files and pages, of the features that are on too, to an application."""
    app[FEATURES] = chosen = feature.enabled(disabled, *feature.WEB)
    environment = aiohttp_jinja2.setup(
        app,
        loader=jinja2.ChoiceLoader([jinja2.FileSystemLoader(_HERE / "templates"), *_of_features()]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=filters.finalize,
    )
    app[CONTEXT_PROVIDERS] = (session.context, _frame_context)
    app.middlewares.append(language.language_middleware)
    app.middlewares.append(template_context_middleware)
    language.install(environment)
    environment.filters |= {function.__name__: function for function in _FILTERS}
    environment.filters["written"] = html_table.written
    environment.filters["type_link"] = schema.type_link
    environment.globals["asset"] = asset
    environment.globals["icon"] = icon
    environment.globals["documentation"] = documentation.address
    environment.globals["rules_address"] = documentation.rules_address
    app[REPLAYS] = Replays()
    app[ANALYSIS_LINES] = AnalysisLines()
    app.router.add_get("/static/{name}", static, name="static")
    app.router.add_get("/static/{start:[a-z0-9]+/}{name}", static)
    app.router.add_get("/dumps/{name}", dumps.download)
    app.router.add_get("/{path:.+}/", _without_slash)
    for module in _UNCACHED:
        app.add_routes(module.routes)
    for module in _CACHED:
        app.add_routes([_cached(route) for route in module.routes])
    for module in feature.loaded(chosen, "pages"):
        app.add_routes(module.routes)
    for module in (leaderboard, explorer):  # last: /{family} matches every other path of one segment
        app.add_routes([_cached(route) for route in module.routes])


def _of_features() -> list[jinja2.BaseLoader]:
    """Return the loader of the templates of features, whose names begin with that of the feature."""
    folders = {one.name: one.folder("templates") for one in feature.installed() if one.feature}
    return [jinja2.PrefixLoader({name: jinja2.FileSystemLoader(folder) for name, folder in folders.items()})]


def warm_up(app: web.Application) -> None:
    """Compile all templates and load the rules of all families, so that the first visitor need not wait for this.

    Kernels are loaded, which imports numba, but never compiled here: pages would stand still meanwhile.
    """
    for name in families():
        load(name)
        if not is_cold(name):
            get_ready(name)
    environment = aiohttp_jinja2.get_env(app)
    for name in environment.list_templates():
        environment.get_template(name)


_CACHED = (home, tournaments, tournament, game, games, archive, bot, dumps, feeds, pictures, crawlers)
_UNCACHED = (
    about,
    workers,
    archive_import,
    board_engine,
    booklet,
    documentation,
    free_board,
    play,
    submit,
    account,
    register,
    organise,
    steering,
)
"""Pages that are not cached: they depend on the user, change every second, or cost little."""


def _cached(route: web.AbstractRouteDef) -> web.AbstractRouteDef:
    """Return a GET route with cached responses; those of a running game are valid until its next ply."""
    if not isinstance(route, web.RouteDef) or route.method != "GET":
        return route
    if "{game}" in route.path:
        handler = cached_page(route.handler, _ply_mark)
    else:
        handler = cached_page(route.handler, _news_mark if route.path in ("/", "/games") else None)
    return web.RouteDef(route.method, route.path, handler, route.kwargs)


def _ply_mark(request: web.Request) -> Hashable:
    return request.app[CONTEXT].live.mark(request.match_info["game"])


def _news_mark(request: web.Request) -> Hashable:
    # The front page has problems of the day, which change although nothing is stored.
    return request.app[CONTEXT].live.news_mark, now().date()


_FILTERS = (
    filters.plain,
    filters.counted,
    filters.format_name,
    filters.placed,
    filters.is_whole,
    filters.special_variant,
    filters.tournament_name,
    filters.log_text,
    filters.with_code,
    filters.result,
    filters.version,
    filters.url_of_version,
    filters.bot_of,
    times.duration,
    times.tempo,
    times.clock,
    times.milliseconds,
    filters.score,
    filters.thought,
    times.when,
    times.moment_in_utc,
    times.appointment,
    times.hour_of_day,
    recurrence.schedule_name,
    recurrence.schedule_words,
    filters.size,
    filters.percent,
    filters.sure,
    filters.probability,
    times.written_day,
    filters.minus,
    filters.signed,
    filters.elo_interval,
    filters.typeset,
    filters.points,
    filters.path_part,
    filters.ending,
    filters.meaning,
    times.moment,
    filters.twice,
    filters.tally,
    filters.results,
    filters.letter,
    filters.game_state,
    filters.letters,
    filters.shade,
    filters.dense_cells,
    markdown.inline,
    score_table.bar,
    plot.interval,
)
