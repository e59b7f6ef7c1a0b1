"""The site map, and the rules for crawlers of search engines."""

from __future__ import annotations

from urllib.parse import quote
from xml.sax.saxutils import escape

from aiohttp import web

from arena import services
from arena.documents.bot import BotQuery
from arena.documents.tournament import TournamentQuery
from arena.http.problem import Problem
from arena.http.request_context import CONTEXT
from arena.pages.page import allow_parameters, arena_of, navigation, run
from referee.rules import families

routes = web.RouteTableDef()
MAX_LISTED = 500
"""Maximum of bots, and of tournaments, in the site map."""
_MAIN_PAGES = ("/play", "/games", "/tournaments", "/rankings", "/bots", "/explore", "/archive", "/about", "/docs/")
_SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"


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
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in closed), "Allow: /*?pool=", "Allow: /*?lang=", ""]
    if base := request.app[CONTEXT].settings.public_url.rstrip("/"):
        lines = [*lines, f"Sitemap: {base}/sitemap.xml", ""]
    return web.Response(text="\n".join(lines), headers={"Cache-Control": "public, max-age=86400"})
