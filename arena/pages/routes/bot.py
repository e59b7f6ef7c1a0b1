"""Bots: the list, a bot with its versions, one version with its rating plots."""

from __future__ import annotations

import re
from functools import partial

from aiohttp import web
from markupsafe import Markup

from arena import services
from arena.documents.bot import BotQuery
from arena.documents.rating import PoolRating
from arena.http.identity import session_of
from arena.http.request_context import IDENTITY
from arena.pages import columns
from arena.pages.columns import text_column
from arena.pages.drawing import plot
from arena.pages.html_table import Column, choice, sorted_table
from arena.pages.page import allow_parameters, arena_of, redirect, redirect_permanently, render, run, run_use_case
from arena.pages.query_form import form_names, read_form
from arena.pages.rating_plot import RatingPlot, rating_plot
from arena.pages.score_table import score_tables, timeline
from arena.pages.session import checked_form
from referee.rules import families, load
from referee.rules.rules import Rules

routes = web.RouteTableDef()
SHOWN_RESULTS = 10
"""Latest results in the head of a bot's page."""
_OTHER_SPELLING = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,39})(?:[ @]v?([1-9]\d{0,8}))?", re.ASCII)
"""Other spellings of a bot: capital letters, or with a version, `ada v3` or `ada@3`."""
_SHOWN = ("by", "family", "versions", "ratings", "opponents", "endings", "changes", "games")
"""Query parameters of a bot's page: the axis of its plots, and the orders of its tables."""


_BOTS = (
    text_column("name", "Bot"),
    text_column("owner", "Owner"),
    text_column("", "Plays"),
    Column("versions", "Versions"),
    text_column("newest_state", "Newest"),
    Column("created_at", "Since"),
)
_VERSIONS = (
    Column("number", "Version", is_number=False),
    text_column("state", "State"),
    text_column("", "Plays"),
    Column("created_at", "Uploaded"),
)
_RATINGS = (
    text_column("pool", "Pool"),
    text_column("name", "Version"),
    Column("conservative", "Rating"),
    Column("mu", "mu ± 2 sigma"),
    Column("games", "Games"),
    Column("wins", "W"),
    Column("draws", "D"),
    Column("losses", "L"),
    Column("forfeits", "Forfeits"),
)
_SCORES = (
    Column("games", "Games"),
    Column("wins", "W"),
    Column("draws", "D"),
    Column("losses", "L"),
    Column("share", "Score"),
    Column("forfeits", "Forfeits"),
)
_CHANGES = (
    text_column("", "Game"),
    text_column("", "Version"),
    text_column("opponent", "Opponent"),
    Column("points", "Points"),
    Column("mu", "mu"),
    Column("sigma", "sigma"),
    Column("commit_number", "When"),
)


@routes.get("/bots")
@allow_parameters(*form_names(BotQuery), "after", "sort")
async def index(request: web.Request) -> web.Response:
    """List all bots by name, or those that match the query."""
    query = read_form(request, BotQuery, limit=100, after=request.query.get("after") or None).query
    found = await run(services.bot.page, arena_of(request), query)
    return render(request, "bots.html", bots=found, table=sorted_table(request, _BOTS, found.items), chosen=query)


@routes.get("/bots/{bot}")
@allow_parameters(*_SHOWN)
async def show(request: web.Request) -> web.Response:
    """Show a bot: versions, ratings, results. `?by=game` draws plots by game number."""
    if spelling := _OTHER_SPELLING.fullmatch(request.match_info["bot"]):
        name, version = spelling[1].lower(), spelling[2]
        if version or name != spelling[1]:
            path = f"/bots/{name}/v/{version}" if version else f"/bots/{name}"
            return redirect_permanently(str(request.rel_url.with_path(path, keep_query=True)))
    return await _page(request)


@routes.get("/bots/{bot}/v/{number}")
@allow_parameters(*_SHOWN)
async def version(request: web.Request) -> web.Response:
    """Show one version of a bot."""
    return await _page(request, request.match_info["number"])


async def _page(request: web.Request, number: str = "") -> web.Response:
    """Render the page of a bot or a version, with its tables in the requested order."""
    by = choice(request.query, "by", ("date", "game"), "date")
    family = choice(request.query, "family", families())

    def read() -> tuple[services.bot.BotResults, list[RatingPlot]]:
        found = services.bot.results(arena_of(request), request.match_info["bot"], number, family)
        return found, [rating_plot(pool, versions, by) for pool, versions in found.curves.items()]

    found, curves = await run(read)
    arena, identity, bot = arena_of(request), await session_of(request), found.bot
    mine = await run(services.bot.page, arena, BotQuery(owner=identity.name, limit=100)) if identity else None
    scores = score_tables(found.tallies, {one.id for one in found.versions})
    opponents, endings = (
        sorted(one.values(), key=lambda score: (-score.games, score.name)) for one in (scores.opponents, scores.endings)
    )
    return render(
        request,
        "bot.html",
        by=by,
        family=family,
        found=found,
        bot=bot,
        version=found.version,
        presence=found.presence,
        is_followed=await run(services.follow.has, arena, "bot", bot.name, identity),
        plays_people_in=[] if bot.is_retired else await run(services.people.families_of, arena, bot.name),
        tiles=_tiles(found),
        results=timeline(found.games[:SHOWN_RESULTS], {one.id for one in found.versions}),
        challengers=[one.name for one in mine.items if one.newest_state == "active"] if mine else [],
        is_active=any(one.state == "active" for one in found.bot.versions),
        plays=sorted({name for one in found.versions for name in one.families}),
        curves=curves,
        sides=sorted(scores.sides.items()),
        versions=sorted_table(request, _VERSIONS, found.bot.versions, parameter="versions"),
        ratings=sorted_table(request, _RATINGS, found.ratings, parameter="ratings"),
        opponents=sorted_table(
            request, (text_column("name", "Opponent"), *_SCORES), opponents[:100], parameter="opponents"
        ),
        endings=sorted_table(request, (text_column("name", "Ended by"), *_SCORES), endings, parameter="endings"),
        games=columns.sort_games(request, found.games, with_family=True),
        tables=[
            sorted_table(
                request, _CHANGES, one.changes, parameter="changes", value=lambda row, key: getattr(row[1], key)
            )
            for one in curves
        ],
    )


def _tiles(found: services.bot.BotResults) -> list[tuple[Rules, PoolRating, Markup]]:
    """Return for each pool the rating of the newest version, and a small curve of the ratings of all versions."""
    newest = {line.pool: line for line in sorted(found.ratings, key=lambda line: line.version_id)}
    return [
        (
            load(line.family),
            line,
            plot.spark([one.mu - 3 * one.sigma for changes in found.curves[pool].values() for one in changes]),
        )
        for pool, line in sorted(newest.items())
    ]


@routes.post("/bots/{bot}/challenge")
async def challenge(request: web.Request) -> web.Response:
    """Start a match of the user's bot `challenger` against `opponent`; each defaults to the bot in the address."""
    fields = await checked_form(request)
    games, name = fields.get("games", "2"), request.match_info["bot"]
    row = await run_use_case(
        partial(
            services.remote.challenge,
            family=fields.get("family", ""),
            games=int(games) if games.isascii() and games.isdecimal() else 0,
            time=fields.get("time", ""),
        ),
        arena_of(request),
        fields.get("challenger") or name,
        fields.get("opponent") or name,
        request[IDENTITY],
    )
    return redirect(f"/tournaments/{row.id}")
