"""Bots: the list, a bot with its versions, one version with its rating plots."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

from aiohttp import web

from arena import services
from arena.http.problem import not_found
from arena.http.request_context import IDENTITY
from arena.pages import columns
from arena.pages.columns import text_column
from arena.pages.html_table import Column, choice, sorted_table
from arena.pages.page import (
    allow_parameters,
    arena_of,
    redirect,
    redirect_permanently,
    render,
    run,
    run_use_case,
    store_of,
)
from arena.pages.rating_plot import rating_plot
from arena.pages.score_table import score_tables
from arena.pages.session import checked_form
from arena.services import Arena
from arena.store.base.models import BotIdentity
from arena.store.bots.versions import VersionLine
from referee.rules import families

routes = web.RouteTableDef()
_OLDER = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,39})(?:[ @]v?([1-9]\d{0,8}))?", re.ASCII)
"""A bot as people may write it: in capitals, or with its version, `ada v3` or `ada@3`."""
_SHOWN = ("by", "family", "versions", "ratings", "opponents", "endings", "changes", "games")
"""What the page of a bot takes: the axis of its plots, and the orders of its tables."""


_BOTS = (
    text_column("name", "BotIdentity"),
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
@allow_parameters("family", "retired", "after", "sort")
async def index(request: web.Request) -> web.Response:
    """All bots by name; `?family=`, `?retired=1`."""
    family = choice(request.query, "family", families())
    retired = choice(request.query, "retired", ("0", "1"), "0") == "1"
    store = store_of(request)
    found = await run(
        lambda: store.bots.page(
            family=family or None, with_retired=retired, limit=100, after=request.query.get("after") or None
        )
    )
    table = sorted_table(request, _BOTS, found.items)
    return render(request, "bots.html", bots=found, table=table, family=family, retired=retired)


def _read(arena: Arena, bot: BotIdentity, versions: Sequence[VersionLine], by: str, family: str) -> dict[str, Any]:
    """What a bot did, in all families or in one."""
    store = arena.store
    ids = [line.id for line in versions]
    ratings = store.ratings.of_versions(ids) if ids else []
    tallies = store.results.tally(ids) if ids else []
    played = {line.family for line in tallies} | {line.pool.partition("/")[0] for line in ratings}
    if family:
        ratings = [line for line in ratings if line.pool.partition("/")[0] == family]
        tallies = [line for line in tallies if line.family == family]
    pools: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in sorted(ratings, key=lambda one: one.version_id):
        pools[line.pool].append((line.version_id, line.name))
    found = score_tables(tallies, set(ids))
    return {
        "family": family,
        "families": sorted(played | {name for line in versions for name in line.families}),
        "bot": bot,
        "plays": sorted({name for line in versions for name in line.families}),
        "owner": store.users.get(bot.owner_id).name,
        "fit_from": store.versions.fit_from(ids),
        "presence": services.remote.presence_of(arena, versions),
        "ratings": ratings,
        "curves": [rating_plot(store, pool, names, by) for pool, names in pools.items()],
        "sides": sorted(found.sides.items()),
        "opponents": sorted(found.opponents.values(), key=lambda score: (-score.games, score.name))[:100],
        "endings": sorted(found.endings.values(), key=lambda score: (-score.games, score.name)),
        "games": store.games.latest(versions=ids, family=family or None, limit=20) if ids else None,
    }


@routes.get("/bots/{bot}")
@allow_parameters(*_SHOWN)
async def show(request: web.Request) -> web.Response:
    """A bot: its versions, ratings, record; `?by=game` draws plots by game number."""
    by = choice(request.query, "by", ("date", "game"), "date")
    family = choice(request.query, "family", families())
    store = store_of(request)
    if older := _OLDER.fullmatch(request.match_info["bot"]):
        name, version = older[1].lower(), older[2]
        if version or name != older[1]:
            path = f"/bots/{name}/v/{version}" if version else f"/bots/{name}"
            return redirect_permanently(str(request.rel_url.with_path(path, keep_query=True)))

    def read() -> dict[str, Any]:
        bot = services.bot.find(arena_of(request), request.match_info["bot"])
        versions = store.versions.of_bot(bot.id or 0)
        return {"versions": versions, **_read(arena_of(request), bot, versions, by, family)}

    return _page(request, by, {"version": None, **await run(read)})


@routes.post("/bots/{bot}/challenge")
async def challenge(request: web.Request) -> web.Response:
    """Start a match of one's remote bot, from the form on its page."""
    fields = await checked_form(request)
    games = fields.get("games", "2")
    row = await run_use_case(
        partial(
            services.remote.challenge,
            family=fields.get("family", ""),
            games=int(games) if games.isascii() and games.isdecimal() else 0,
            time=fields.get("time", ""),
        ),
        arena_of(request),
        request.match_info["bot"],
        fields.get("opponent", ""),
        request[IDENTITY],
    )
    return redirect(f"/tournaments/{row.id}")


@routes.get("/bots/{bot}/v/{number}")
@allow_parameters(*_SHOWN)
async def version(request: web.Request) -> web.Response:
    """One version."""
    by = choice(request.query, "by", ("date", "game"), "date")
    family = choice(request.query, "family", families())
    store = store_of(request)
    text = request.match_info["number"]

    def read() -> dict[str, Any]:
        bot = services.bot.find(arena_of(request), request.match_info["bot"])
        versions = store.versions.of_bot(bot.id or 0)
        mine = [line for line in versions if str(line.number) == text]
        if not mine:
            raise not_found(f"version of {bot.name}", text, [str(line.number) for line in versions])
        return {"versions": versions, "version": mine[0], **_read(arena_of(request), bot, mine, by, family)}

    return _page(request, by, await run(read))


def _page(request: web.Request, by: str, found: dict[str, Any]) -> web.Response:
    """The page of a bot or a version, its tables as asked for."""
    tables = {
        "versions": sorted_table(request, _VERSIONS, found["versions"], parameter="versions"),
        "ratings": sorted_table(request, _RATINGS, found["ratings"], parameter="ratings"),
        "opponents": sorted_table(
            request, (text_column("name", "Opponent"), *_SCORES), found["opponents"], parameter="opponents"
        ),
        "endings": sorted_table(
            request, (text_column("name", "Ended by"), *_SCORES), found["endings"], parameter="endings"
        ),
        "games": columns.sort_games(request, found["games"].items if found["games"] else [], with_family=True),
        "tables": [
            sorted_table(
                request, _CHANGES, one.changes, parameter="changes", value=lambda row, key: getattr(row[1], key)
            )
            for one in found["curves"]
        ],
    }
    return render(request, "bot.html", by=by, **{**found, **tables})
