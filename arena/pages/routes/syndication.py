"""Content for other programs: Atom feeds, pictures for link previews, embedded games, the site map and rules for
crawlers, and what a browser needs to install the site as an application.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import quote
from xml.sax.saxutils import escape

import aiohttp_jinja2
from aiohttp import web

from arena import services
from arena.documents.bot import BotQuery
from arena.documents.game import GameItem, GameQuery
from arena.documents.tournament import TournamentQuery
from arena.http.kept_files import kept_file
from arena.http.problem import Problem, as_json, not_found
from arena.http.request_context import CONTEXT
from arena.pages import filters, language
from arena.pages.drawing import thumbnail
from arena.pages.drawing.replay import Replay
from arena.pages.drawing.scene import Scenes
from arena.pages.page import (
    FRAMES_PER_TOKEN,
    allow_parameters,
    arena_of,
    in_a_language,
    navigation,
    path_family,
    path_number,
    run,
)
from arena.pages.routes.game import render_viewer, replay_of
from arena.pages.viewer import ply_of
from arena.services.game import GameDetails
from referee.ratings.trueskill import conservative
from referee.rules import families

routes = web.RouteTableDef()
ITEMS = 30
"""Maximum of games in a feed."""
ICON_SIZES = (180, 192, 512)
"""Pixels of the icon: for phones of Apple, and two that browsers ask for before they install a site."""
_MAIN_PAGES = ("/play", "/games", "/tournaments", "/rankings", "/bots", "/explore", "/archive", "/about", "/docs/")
MAX_LISTED = 500
"""Maximum of bots, and of tournaments, in the site map."""
_SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
_FRAMED = "default-src 'self'; object-src 'none'; frame-ancestors *; base-uri 'none'; form-action 'none'"


def _feed(request: web.Request, subject: str, path: str, games: Sequence[GameItem]) -> web.Response:
    base = request.app[CONTEXT].settings.public_url.rstrip("/")
    at = games[0].finished_at if games else datetime.now(UTC)
    title = language.text("Results of %(subject)s") % {"subject": subject}
    given = {"title": title, "path": path, "base": base, "games": games, "at": at}
    text = aiohttp_jinja2.get_env(request.app).get_template("feed.atom").render(given)
    response = web.Response(text=text, content_type="application/atom+xml", charset="utf-8")
    response.enable_compression()
    return in_a_language(response, "public, max-age=60")


@routes.get("/bots/{bot}/feed.atom")
@allow_parameters()
async def of_bot(request: web.Request) -> web.Response:
    """Serve the feed of the results of all versions of a bot."""

    def read() -> web.Response:
        bot = request.match_info["bot"]
        games = services.game.search(arena_of(request), GameQuery(bot=bot, limit=ITEMS)).items
        return _feed(request, bot, f"/bots/{bot}", games)

    return await run(read)


@routes.get("/tournaments/{tournament}/feed.atom")
@allow_parameters()
async def of_tournament(request: web.Request) -> web.Response:
    """Serve the feed of a tournament's results."""
    number = path_number(request, "tournament", "tournament")

    def read() -> web.Response:
        arena = arena_of(request)
        row = services.tournament.get(arena, number)
        games = services.game.search(arena, GameQuery(tournament=number, limit=ITEMS)).items
        return _feed(request, row.name, f"/tournaments/{number}", games)

    return await run(read)


@routes.get("/{family}/feed.atom")
@allow_parameters()
async def of_family(request: web.Request) -> web.Response:
    """Serve the feed of a family's results."""
    rules = path_family(request)

    def read() -> web.Response:
        games = services.game.search(arena_of(request), GameQuery(family=rules.family, limit=ITEMS)).items
        return _feed(request, language.translated(rules.title), f"/{rules.family}", games)

    return await run(read)


@routes.get("/games/{game}/board.png")
@allow_parameters("ply")
async def of_game(request: web.Request) -> web.Response:
    """Serve the last position of a game, or that at `?ply=`, as a picture."""
    replay, details = await replay_of(request)
    ply = ply_of(request, replay)
    caption = _caption(replay, details, is_end=ply == replay.last)
    body = await kept_file(
        request, 0, thumbnail.png, replay.rules, replay.scenes[ply], thumbnail.WIDTH, thumbnail.HEIGHT, caption
    )
    return _picture(body, "public, max-age=86400" if details.line.is_over else "public, max-age=30")


def _caption(replay: Replay, details: GameDetails, *, is_end: bool) -> thumbnail.Caption:
    """Return the texts on a picture of a game: the bots with their ratings before the game, and the result."""
    line = details.line

    def player(name: str, version: int, side: str) -> tuple[str, str]:
        change = details.changes.get(version)
        rating = f"rating {conservative(change.mu_before, change.sigma_before):.1f}" if change else ""
        return filters.plain(name, 60), ", ".join(part for part in (side, filters.minus(rating)) if part)

    first, second = replay.sides
    return thumbnail.Caption(
        title=f"{replay.rules.title}, {line.variant}",
        players=(player(line.first, line.first_id, first), player(line.second, line.second_id, second)),
        result=filters.result(line.winner).replace("-", "–") if line.winner and is_end else "",
    )


@routes.get("/games/{game}/game.gif")
@allow_parameters()
async def animated(request: web.Request) -> web.Response:
    """Serve a game that is over as an animated picture."""
    replay, details = await replay_of(request)
    if not details.line.is_over:
        raise Problem("conflict", "the game is not over", hint="try again when it is over")
    if not thumbnail.can_animate():
        raise Problem("not-found", "this server makes no animated pictures", hint="install bot-arena[gif] there")
    caption, cost = _caption(replay, details, is_end=True), len(replay.scenes) / FRAMES_PER_TOKEN
    body = await kept_file(request, cost, thumbnail.gif, replay.rules.family, replay.scenes, caption)
    return web.Response(body=body, content_type="image/gif", headers={"Cache-Control": "public, max-age=86400"})


@routes.get("/{family}/board.png")
@allow_parameters()
async def start(request: web.Request) -> web.Response:
    """Serve the start of a family as a picture."""
    rules = path_family(request)
    scene = await run(lambda: Scenes(rules.settle()).items[0])
    return _picture(await kept_file(request, 0, thumbnail.png, rules, scene), "public, max-age=86400")


def _picture(body: bytes, keep: str) -> web.Response:
    return web.Response(body=body, content_type="image/png", headers={"Cache-Control": keep})


@routes.get("/embed/games/{game}")
@allow_parameters("ply", "flip")
async def embed(request: web.Request) -> web.Response:
    """Show only the viewer, for a frame on another site. It contains no forms."""
    response = await render_viewer(request, "embed.html")
    response.headers["Content-Security-Policy"] = _FRAMED
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


@routes.get("/manifest.webmanifest")
@allow_parameters()
async def manifest(request: web.Request) -> web.Response:
    """Serve name, icons and start page, with which browsers install the site as an application."""
    icons = [{"src": f"/icon-{size}.png", "sizes": f"{size}x{size}", "type": "image/png"} for size in ICON_SIZES]
    content = {
        "name": "Bot arena",
        "short_name": "Arena",
        "description": language.text("Tournaments and ratings for bots that play board games"),
        "lang": language.current(),
        "id": "/",
        "start_url": "/",
        "display": "standalone",
        "background_color": "#f8f6f1",
        "theme_color": "#1d4fb0",
        "icons": [{"src": "/static/icon.svg", "sizes": "any", "type": "image/svg+xml"}, *icons],
    }
    response = web.json_response(content, content_type="application/manifest+json", dumps=as_json)
    return in_a_language(response, "public, max-age=86400")


@routes.get(r"/icon-{size:\d{2,3}}.png")
@allow_parameters()
async def icon(request: web.Request) -> web.Response:
    """Serve the icon of the site as a picture, for the home screen of phones."""
    size = int(request.match_info["size"])
    if size not in ICON_SIZES:
        raise not_found("icon", request.match_info["size"], [str(size) for size in ICON_SIZES])
    return _picture(await kept_file(request, 0, thumbnail.icon, size), "public, max-age=86400")


@routes.get("/sitemap.xml")
@allow_parameters()
async def sitemap(request: web.Request) -> web.Response:
    """Serve the addresses of public pages for search engines; the newest tournaments only."""
    base = request.app[CONTEXT].settings.public_url.rstrip("/")
    if not base:
        raise Problem("not-found", "a site map needs absolute addresses", hint="set public_url to that of this server")

    def read() -> list[str]:
        arena, names, places = arena_of(request), families(), navigation(request.app)["places_in"]
        of_families = [place.address for name in names for place in places("family", family=name)]
        fixed = ["/", *_MAIN_PAGES, *(place.address for place in places("explore")), *of_families]
        bots = services.bot.page(arena, BotQuery(limit=MAX_LISTED)).items
        tournaments = services.tournament.page(arena, TournamentQuery(limit=MAX_LISTED)).items
        return [
            *dict.fromkeys(fixed),
            *(f"/{name}{page}" for name in names for page in ("", "/leaderboard", "/board")),
            *(f"/bots/{quote(bot.name)}" for bot in bots),
            *(f"/tournaments/{tournament.id}" for tournament in tournaments),
        ]

    addresses = "".join(f"<url><loc>{escape(base + path)}</loc></url>\n" for path in await run(read))
    text = f'<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="{_SITEMAP}">\n{addresses}</urlset>\n'
    response = web.Response(text=text, content_type="application/xml", charset="utf-8")
    response.enable_compression()
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response


@routes.get("/robots.txt")
@allow_parameters()
async def robots(request: web.Request) -> web.Response:
    """Serve the rules for crawlers. They exclude data, forms, and most queries, which only sort or filter a page."""
    closed = ("/api/", "/account", "/login", "/register", "/reset", "/submit", "/embed/", "/*?")
    lines = ["User-agent: *", *(f"Disallow: {one}" for one in closed), "Allow: /*?pool=", "Allow: /*?lang=", ""]
    if base := request.app[CONTEXT].settings.public_url.rstrip("/"):
        lines = [*lines, f"Sitemap: {base}/sitemap.xml", ""]
    return web.Response(text="\n".join(lines), headers={"Cache-Control": "public, max-age=86400"})
