"""Atom feeds of results: of a bot, a tournament and a family."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import aiohttp_jinja2
from aiohttp import web

from arena import services
from arena.documents.game import GameItem, GameQuery
from arena.http.request_context import CONTEXT
from arena.pages import language
from arena.pages.page import allow_parameters, arena_of, in_a_language, path_family, path_number, run

routes = web.RouteTableDef()
ITEMS = 30
"""Maximum of games in a feed."""


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
