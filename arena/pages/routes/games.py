"""The list of all games, filtered by players, date and result."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web
from multidict import MultiMapping

from arena import services
from arena.errors import NotFoundError
from arena.http.problem import Problem, quoted
from arena.pages import columns
from arena.pages.html_table import choice, number
from arena.pages.page import allow_parameters, arena_of, render, run, store_of
from arena.services import Arena
from arena.store.games.analyses import BY_ANALYSIS, AnalysisFilter
from arena.store.games.game_filter import GameFilter
from referee.rules import families, load

routes = web.RouteTableDef()
KINDS = ("rules", "adjudication", "forfeit")
RESULTS = ("first", "second", "draw")
MAX_NAME = 80
ANALYSED = ("blunders", "max_accuracy", "min_turning_points", "blown_win")
"""Filters by analysis: minimum of blunders, maximum of accuracy, minimum of turning points, wins that were lost."""
MAX_COUNT = 10_000


@routes.get("/games")
@allow_parameters(
    "family",
    "variant",
    "bot",
    "winner",
    "termination_class",
    "since",
    "until",
    *ANALYSED,
    "by",
    "after",
    "sort",
    "running",
)
async def index(request: web.Request) -> web.Response:
    """List the latest games that match the query; `?after=` continues the list."""
    query = request.query
    chosen = {
        "family": choice(query, "family", families()),
        "winner": choice(query, "winner", RESULTS),
        "termination_class": choice(query, "termination_class", KINDS),
    }
    wanted = [chosen["family"]] if chosen["family"] else families()
    variants = list(dict.fromkeys(one.name for family in wanted for one in load(family).variants))
    chosen |= {
        "variant": choice(query, "variant", variants),
        "bot": query.get("bot", "").strip()[:MAX_NAME],
    }
    days = {name: day(query, name) for name in ("since", "until")}
    by = choice(query, "by", BY_ANALYSIS)
    found, running = await run(_read, arena_of(request), chosen, days, analysed(query), by, query.get("after") or None)
    return render(
        request,
        "games.html",
        games=found,
        table=columns.sort_games(request, found.items, with_family=True, parameter="sort"),
        running=columns.sort_games(request, running, with_family=True, parameter="running"),
        chosen=chosen | {name: query.get(name, "") for name in (*days, *ANALYSED)} | {"by": by},
        figures=await run(store_of(request).analyses.figures, [line.id for line in found.items]),
        variants=variants,
    )


def analysed(query: MultiMapping[str]) -> AnalysisFilter | None:
    """Return the filter by analysis; None without one. Raises Problem (400)."""

    def bound(name: str, most: int) -> int | None:
        return number(query, name, 0, low=0, high=most) if query.get(name) else None

    blown_win = choice(query, "blown_win", ("yes", "no"))
    found = AnalysisFilter(
        min_blunders=bound("blunders", MAX_COUNT),
        max_accuracy=bound("max_accuracy", 100),
        min_turning_points=bound("min_turning_points", MAX_COUNT),
        has_blown_win=blown_win == "yes" if blown_win else None,
    )
    return found or None


def _read(  # noqa: PLR0917 - the parts of the query
    arena: Arena,
    chosen: dict[str, str],
    days: dict[str, datetime | None],
    by_analysis: AnalysisFilter | None,
    by: str,
    after: str | None,
) -> Any:
    store = arena.store
    versions = None
    if chosen["bot"]:
        try:
            bot = services.bot.find(arena, chosen["bot"])
        except NotFoundError as error:  # 400 rather than 404: the page exists, its query is wrong
            raise Problem("bad-request", str(error), hint=error.hint, field="bot", **error.extra) from None
        versions = [line.id for line in store.versions.of_bot(bot.id or 0)]
    until = days["until"]
    game_filter = GameFilter(
        family=chosen["family"] or None,
        variant=chosen["variant"] or None,
        winner=chosen["winner"] or None,
        termination_class=chosen["termination_class"] or None,
        versions=versions,
        since=days["since"],
        until=until + timedelta(days=1) if until else None,
        analysed=by_analysis,
    )
    if by:
        return store.games.by_figure(by, is_falling=not by.endswith("accuracy"), after=after, **game_filter), []
    return store.games.latest(after=after, **game_filter), store.games.in_state("running", 50)


def day(query: MultiMapping[str], name: str) -> datetime | None:
    """Return a day of the query as its beginning in UTC; None without one. Raises Problem (400)."""
    text = query.get(name, "")
    if not text:
        return None
    try:
        found = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
        _ = found + timedelta(days=1)
    except (ValueError, OverflowError):
        raise Problem(
            "bad-request", f"invalid {name} {quoted(text)}", field=name, hint="expected YYYY-MM-DD, such as 2026-11-30"
        ) from None
    return found
