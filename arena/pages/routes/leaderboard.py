"""Leaderboards of a family: the ratings of a pool, now or on an earlier day.

A filter by variant or time class limits the games that are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from arena import services
from arena.documents.game import GameQuery
from arena.documents.rating import LeaderboardLine, LeaderboardQuery
from arena.http.identity import session_of
from arena.pages import columns
from arena.pages.columns import text_column
from arena.pages.html_table import Column, choice, sorted_table, sorting
from arena.pages.language import marked, text, translated
from arena.pages.page import allow_parameters, arena_of, path_family, render, run
from arena.pages.query_form import form_names, read_form
from arena.tournaments import time_class
from referee.rules import families, load
from referee.rules.core import SIDES

routes = web.RouteTableDef()
MAX_LEADERS = 10
"""Number of bots of each family on the page of all rankings."""
STATES = (("all", marked("active and retired")), ("retired", "retired"))

_ELO = Column("elo", "Elo", "Bradley-Terry with draws, from the chosen games; independent of their order")
COLUMNS = (
    Column("place", "#", "place by rating; none while provisional", is_descending_first=False),
    text_column("name", "Bot"),
    Column("rating", "Rating", "mu − 3 sigma: a lower bound of the strength with 99.9 % confidence"),
    Column("mu", "mu ± 2 sigma", "the estimate with its 95 % interval"),
    _ELO,
    Column("games", "Games"),
    Column("wins", "W"),
    Column("draws", "D"),
    Column("losses", "L"),
    Column("score", "Score"),
    Column("opponents", "Opponents", "the average mu of the opponents"),
    Column("drawn", "Draws"),
    Column("forfeits", "Forfeits"),
    Column("beats_next", "P(better)", "probability of being stronger than the next bot in the list"),
    text_column("owner", "Owner"),
)
_SIDES = (
    text_column("variant", "Variant"),
    Column("first", "first"),
    Column("draw", "Drawn"),
    Column("second", "second"),
)


@routes.get("/rankings")
@allow_parameters()
async def rankings(request: web.Request) -> web.Response:
    """Show the best bots of every family."""
    found = await run(services.front_page.leaders, arena_of(request), MAX_LEADERS)
    leaders = [{"rules": load(name), "games": games, "top": top} for name, (games, top) in found.items()]
    return render(request, "rankings.html", families=leaders)


@routes.get("/{family}/leaderboard")
@allow_parameters(*form_names(LeaderboardQuery), "mine", "after", "sort", "sides", "games")
async def show(request: web.Request) -> web.Response:
    """Show the ratings of a pool: `?pool=`, `?variant=`, `?pace=`, `?state=`, `?mine=1`, `?at=`, `?sort=`."""
    rules, arena = path_family(request), arena_of(request)
    user = await session_of(request)
    is_mine = choice(request.query, "mine", ("0", "1"), "0") == "1"
    chosen = read_form(
        request,
        LeaderboardQuery,
        limit=services.leaderboard.MAX_FILTERED,
        after=request.query.get("after") or None,
        **({"owner": user.name if user else "-"} if is_mine else {}),
    ).query

    def read() -> dict[str, Any]:
        pools = services.leaderboard.pools(arena, rules.family)
        known = [one.pool for one in pools]
        query = chosen if chosen.pool or rules.family in known or not known else replace(chosen, pool=known[0])
        found = services.leaderboard.read(arena, rules.family, query)
        return {
            "pools": pools,
            "found": found,
            "recent": services.game.search(arena, GameQuery(pool=found.pool, limit=10)),
        }

    shown = await run(read)
    found = shown["found"]
    chosen_columns = COLUMNS if chosen.is_part else tuple(one for one in COLUMNS if one is not _ELO)
    ordered = sorting(request, chosen_columns, "-elo" if chosen.is_part else "place")
    lines = ordered.sort(found.items, _value)
    return render(
        request,
        "leaderboard.html",
        rules=rules,
        families=[load(name) for name in families()],
        chosen=chosen,
        is_mine=is_mine,
        paces=time_class.NAMES,
        states=STATES,
        lines=lines,
        blocks=[
            [line for line in lines if not line.is_provisional],
            [line for line in lines if line.is_provisional],
        ],
        leaders=[line for line in found.items if line.rank is not None][:3] if not chosen.is_part else [],
        sorting=ordered,
        now=datetime.now(UTC),
        sides=sorted_table(request, _sides_of(rules.sides), found.sides, parameter="sides"),
        spread=_spread(lines),
        **{**shown, "recent": columns.sort_games(request, shown["recent"].items)},
    )


def _spread(lines: Sequence[LeaderboardLine]) -> tuple[float, float]:
    """Return the ends of the scale on which the intervals of these ratings are drawn."""
    sure = [line for line in lines if not line.is_provisional] or lines
    low = min((line.mu - 2 * line.sigma for line in sure), default=0.0)
    return low, max((line.mu + 2 * line.sigma for line in sure), default=50.0)


def _value(line: LeaderboardLine, key: str) -> Any:
    if key == "rating":
        return line.conservative
    return line.draws / line.games if key == "drawn" else getattr(line, key)


def _sides_of(names: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns of the table of results by side; the titles have the family's names of the sides."""
    sides: Iterable[tuple[str, str]] = zip(SIDES, names, strict=True)
    titles = {side: text("%(side)s won") % {"side": translated(name)} for side, name in sides}
    return tuple(replace(one, title=titles.get(one.key, one.title)) for one in _SIDES)
