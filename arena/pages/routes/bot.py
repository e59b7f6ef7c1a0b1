"""Bots: the list, a bot with its versions, one version with its rating plots, two head to head; and the public page of
a user, with bots and organised tournaments.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from aiohttp import web
from markupsafe import Markup

from arena import services
from arena.documents.bot import BotItem, BotQuery, MeetingsQuery
from arena.documents.columns import BOTS, POOL_RATINGS, TOURNAMENTS, VERSIONS
from arena.documents.rating import ChangeItem, PoolRating, Score
from arena.documents.table import Column, page_columns, text_column
from arena.http.identity import session_of
from arena.http.request_context import IDENTITY
from arena.pages import html_table
from arena.pages.drawing import plot
from arena.pages.html_table import HtmlTable, choice, sorted_table
from arena.pages.page import (
    allow_parameters,
    arena_of,
    contributions,
    redirect,
    redirect_permanently,
    render,
    run,
    run_use_case,
)
from arena.pages.query_form import form_names, read_form
from arena.pages.rating_plot import RatingPlot, rating_plot
from arena.pages.score_table import timeline
from arena.pages.session import checked_form
from arena.services.arena import Arena
from arena.services.bot import HeadToHead
from arena.services.submission import QueuePlace
from referee.ratings.trueskill import conservative
from referee.rules import families, load
from referee.rules.rules import Rules

routes = web.RouteTableDef()
SHOWN_RESULTS = 10
"""Latest results in the head of a bot's page."""
_OTHER_SPELLING = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,39})(?:[ @]v?([1-9]\d{0,8}))?", re.ASCII)
"""Other spellings of a bot: capital letters, or with a version, `ada v3` or `ada@3`."""
_PARAMETERS = ("by", "family", "versions", "ratings", "opponents", "endings", "changes", "games")
"""Query parameters of a bot's page: the axis of its plots, and the orders of its tables."""

_BEST_RATING: Column[BotItem] = Column("rating", "Best rating", lambda bot: bot.id, "best_rating")
_SCORES: tuple[Column[Score], ...] = (
    Column("games", "Games", lambda score: score.games),
    Column("wins", "W", lambda score: score.wins),
    Column("draws", "D", lambda score: score.draws),
    Column("losses", "L", lambda score: score.losses),
    Column("share", "Score", lambda score: score.share, "share"),
    Column("forfeits", "Forfeits", lambda score: score.forfeits, "faults"),
)
_OPPONENTS = (text_column("name", "Opponent", lambda score: score.name, "version", is_heading=True), *_SCORES)
_ENDINGS = (text_column("name", "Ended by", lambda score: score.name, "termination", is_heading=True), *_SCORES)
_CHANGES: tuple[Column[tuple[str, ChangeItem]], ...] = (
    text_column("game", "Game", lambda row: row[1].game_id, "game", is_sortable=False, css="mono"),
    text_column("version", "Version", lambda row: row[0], is_sortable=False),
    text_column("opponent", "Opponent", lambda row: row[1].opponent, "version"),
    Column("points", "Points", lambda row: row[1].points, "points"),
    Column("mu", "mu", lambda row: (row[1].mu_before, row[1].mu), "step", order=lambda row: row[1].mu),
    Column("sigma", "sigma", lambda row: row[1].sigma),
    Column("commit_number", "When", lambda row: row[1].finished_at, order=lambda row: row[1].commit_number),
)


@routes.get("/bots")
@allow_parameters(*form_names(BotQuery), "after", "sort")
async def index(request: web.Request) -> web.Response:
    """List all bots, or those that match the query, the best first."""
    query = read_form(request, BotQuery, limit=100, after=request.query.get("after") or None).query
    bots = await run(services.bot.page, arena_of(request), query)
    best = await run(services.bot.best_ratings, arena_of(request), bots.items)
    order = {bot_id: line.conservative for bot_id, line in best.items()}
    columns = (*BOTS[:2], replace(_BEST_RATING, order=lambda bot: order.get(bot.id)), *BOTS[2:])
    is_whole = not (bots.next or query.after)  # a page of a longer list is sorted by name
    table = sorted_table(request, columns, bots.items, "-rating" if is_whole else "")
    return render(request, "bots.html", bots=bots, best=best, table=table, chosen=query)


@routes.get("/bots/{bot}")
@allow_parameters(*_PARAMETERS)
async def show(request: web.Request) -> web.Response:
    """Show a bot: versions, ratings, results. `?by=game` draws plots by game number."""
    if spelling := _OTHER_SPELLING.fullmatch(request.match_info["bot"]):
        name, version = spelling[1].lower(), spelling[2]
        if version or name != spelling[1]:
            path = f"/bots/{name}/v/{version}" if version else f"/bots/{name}"
            return redirect_permanently(str(request.rel_url.with_path(path, keep_query=True)))
    return await _page(request)


@routes.get("/bots/{bot}/v/{number}")
@allow_parameters(*_PARAMETERS)
async def version(request: web.Request) -> web.Response:
    """Show one version of a bot."""
    return await _page(request, request.match_info["number"])


async def _page(request: web.Request, number: str = "") -> web.Response:
    """Render the page of a bot or a version, with its tables in the requested order."""
    by = choice(request.query, "by", ("date", "game"), "date")
    family = choice(request.query, "family", families())

    def read() -> tuple[services.bot.BotResults, list[RatingPlot]]:
        results = services.bot.results(arena_of(request), request.match_info["bot"], number, family)
        return results, [rating_plot(pool, versions, by) for pool, versions in results.curves.items()]

    results, curves = await run(read)
    arena, identity, bot = arena_of(request), await session_of(request), results.bot
    mine = await run(services.bot.page, arena, BotQuery(owner=identity.name, limit=100)) if identity else None
    opponents, endings = ([*table.values()] for table in (results.scores.opponents, results.scores.endings))
    return render(
        request,
        "bot.html",
        by=by,
        family=family,
        found=results,
        bot=bot,
        version=results.version,
        presence=results.presence,
        is_followed=await run(services.follow.has, arena, "bot", bot.id, identity),
        plays_people_in=[] if bot.is_retired else await run(services.people.families_of, arena, bot.name),
        place=await run(_first_game, arena, results),
        tiles=await run(_tiles, arena, results),
        results=timeline(results.games[:SHOWN_RESULTS], {version.id for version in results.versions}),
        challengers=[bot.name for bot in mine.items if bot.newest_state == "active"] if mine else [],
        is_active=any(version.state == "active" for version in results.bot.versions),
        plays=sorted({name for version in results.versions for name in version.families}),
        curves=curves,
        sides=sorted(results.scores.sides.items()),
        versions=sorted_table(request, VERSIONS, results.bot.versions, parameter="versions"),
        ratings=sorted_table(
            request,
            POOL_RATINGS,
            results.ratings,
            parameter="ratings",
            css=lambda line: "provisional" if line.is_provisional else "",
        ),
        opponents=sorted_table(request, _OPPONENTS, opponents, parameter="opponents"),
        endings=sorted_table(request, _ENDINGS, endings, parameter="endings"),
        games=html_table.sort_games(request, results.games, with_family=True),
        tables=[sorted_table(request, _CHANGES, curve.changes, parameter="changes") for curve in curves],
    )


def _first_game(arena: Arena, found: services.bot.BotResults) -> QueuePlace | None:
    """Return the place in the queue of the newest shown version if it has no rating yet."""
    newest = max((version for version in found.versions), key=lambda version: version.number, default=None)
    if newest is None or newest.state != "active" or newest.id in {line.version_id for line in found.ratings}:
        return None
    return services.submission.place_of_first_game(arena, newest.id)


def _tiles(arena: Arena, results: services.bot.BotResults) -> list[tuple[Rules, PoolRating, int | None, Markup]]:
    """Return for each pool the rating and the level of the newest version, and a small curve of all versions."""
    newest = {line.pool: line for line in sorted(results.ratings, key=lambda line: line.version_id)}
    levels = services.bot.levels(arena, list(newest.values()))
    return [
        (
            load(line.family),
            line,
            levels.get(pool),
            plot.spark(
                [
                    conservative(change.mu, change.sigma)
                    for changes in results.curves[pool].values()
                    for change in changes
                ]
            ),
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


class OpeningScore(NamedTuple):
    """The results of a bot in the games of an opening, or of a variant if they have none."""

    family: str
    name: str
    score: Score


_OPENINGS: tuple[Column[OpeningScore], ...] = (
    text_column("name", "Opening", lambda row: row.name, "name", is_heading=True, css="mono"),
    text_column("family", "Family", lambda row: row.family, "family"),
    Column("wins", "W", lambda row: row.score.wins),
    Column("draws", "D", lambda row: row.score.draws),
    Column("losses", "L", lambda row: row.score.losses),
)


@routes.get("/bots/{bot}/vs/{other}")
@allow_parameters(*form_names(MeetingsQuery), "after", "games", "openings")
async def versus(request: web.Request) -> web.Response:
    """Show the games between two bots: all versions, or those in `?mine=` and `?theirs=`."""
    names = request.match_info["bot"], request.match_info["other"]
    query = read_form(request, MeetingsQuery, after=request.query.get("after") or None).query
    meetings = await run(services.bot.head_to_head, arena_of(request), *names, query)
    scores = meetings.scores
    total = Score(names[0])
    for score in scores.endings.values():
        total.wins, total.draws = total.wins + score.wins, total.draws + score.draws
        total.losses, total.forfeits = total.losses + score.losses, total.forfeits + score.forfeits
    return render(
        request,
        "versus.html",
        bot=names[0],
        other=names[1],
        found=meetings,
        query=query,
        total=total,
        sides=sorted(scores.sides.items()),
        endings=[*scores.endings.values()],
        games=meetings.games,
        timeline=timeline(meetings.games.items, set(meetings.mine)),
        table=html_table.sort_games(request, meetings.games.items, with_family=True),
        openings=sorted_table(request, _OPENINGS, _by_opening(meetings), parameter="openings"),
    )


def _by_opening(meetings: HeadToHead) -> list[OpeningScore]:
    """Count the results of `mine` by opening, or by variant for games without an opening; the most frequent first."""
    scores: dict[tuple[str, str], Score] = {}
    for game in meetings.games.items:
        opening = game.family, meetings.openings.get(game.id, "") or game.variant
        score = scores.setdefault(opening, Score())
        if game.winner:
            score.add(is_first=game.first_id in meetings.mine, winner=game.winner)
    rows = [OpeningScore(*opening, score) for opening, score in scores.items()]
    return sorted(rows, key=lambda row: (-row.score.games, row.family, row.name))


@routes.get("/users/{user}")
@allow_parameters("sort", "tournaments", "after")
async def show_user(request: web.Request) -> web.Response:
    """Show a user."""
    after = request.query.get("after") or None
    arena, identity = arena_of(request), await session_of(request)
    profile = await run(services.user.profile, arena, request.match_info["user"], after)
    return render(
        request,
        "user.html",
        table=sorted_table(request, page_columns(BOTS, ("owner",)), profile.bots.items),
        tournaments=sorted_table(request, TOURNAMENTS, profile.tournaments, parameter="tournaments"),
        all_rules={name: load(name) for name in families()},
        now=datetime.now(UTC),
        found=profile,
        user=profile.user,
        sparks={
            pool: plot.spark([conservative(change.mu, change.sigma) for change in changes])
            for pool, changes in profile.changes.items()
        },
        games=HtmlTable(html_table.GAMES, profile.games, css=html_table.won),
        contributed=await contributions(request, "profile", profile.user),
        is_followed=await run(services.follow.has, arena, "user", profile.user.id, identity),
    )
