"""Leaderboards of a family, the ratings of a pool, now or on an earlier day, and the page of the family itself.

A filter by variant or time class limits the games that are counted. The ratings of several bots are compared in one
plot. The address of each page holds the selection, so that it can be shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from arena import services
from arena.documents.columns import LEADERBOARD
from arena.documents.game import GameQuery
from arena.documents.rating import LeaderboardLine, LeaderboardQuery, SideResults
from arena.documents.table import Column, page_columns, text_column
from arena.http.identity import session_of
from arena.http.problem import Problem
from arena.pages import html_table, rating_plot
from arena.pages.drawing import board
from arena.pages.drawing.scene import Scenes
from arena.pages.filters import placed
from arena.pages.html_table import choice, sorted_table
from arena.pages.language import marked, text, translated
from arena.pages.page import allow_parameters, arena_of, path_family, render, run
from arena.pages.query_form import form_names, read_form
from referee.rules import families, load
from referee.rules.core import SIDES, value_text
from referee.rules.rules import Option, Rules, Variant
from referee.tournament import preview

routes = web.RouteTableDef()

LINES = 100
"""Lines of a leaderboard on one page; one line takes a third of a millisecond."""
MAX_LEADERS = 10
"""Number of bots of each family on the page of all rankings."""
MAX_VARIANTS = 60
STATES = (("all", marked("active and retired")), ("retired", "retired"))

_SIDES: tuple[Column[SideResults], ...] = (
    text_column("variant", "Variant", lambda line: line.variant, "word", is_heading=True),
    Column("first", "first", lambda line: line.first),
    Column("draw", "Drawn", lambda line: line.draw),
    Column("second", "second", lambda line: line.second),
)
_VARIANTS: tuple[Column[Variant], ...] = (
    text_column("name", "Name", lambda variant: variant.name, "variant", is_heading=True),
    text_column("options", "Options", lambda variant: variant.options, "rule_options", is_sortable=False),
    text_column("note", "Note", lambda variant: variant.note, "inline"),
)
_OPTIONS: tuple[Column[Option], ...] = (
    text_column("name", "Name", lambda option: option.name, "code", is_heading=True),
    text_column("default", "Default", lambda option: value_text(option.default), "code", is_sortable=False),
    text_column("values", "Values", lambda option: option.names(), "option_values", is_sortable=False),
    text_column("changes", "Changes", lambda option: option.changes, "word"),
    text_column("meaning", "Meaning", lambda option: option.meaning, "inline"),
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
        known = [pool.pool for pool in pools]
        # The Elo of a part of the games sorts all its bots, which need one page therefore.
        query = chosen if chosen.is_part else replace(chosen, limit=LINES)
        query = query if query.pool or rules.family in known or not known else replace(query, pool=known[0])
        leaderboard = services.leaderboard.read(arena, rules.family, query, pools)
        return {
            "pools": pools,
            "found": leaderboard,
            "recent": services.game.search(arena, GameQuery(pool=leaderboard.pool, limit=10)),
        }

    shown = await run(read)
    leaderboard = shown["found"]
    table = sorted_table(
        request,
        page_columns(LEADERBOARD, () if chosen.is_part else ("elo",)),
        leaderboard.items,
        "-elo" if chosen.is_part else "place",
        css=lambda line: "provisional" if line.is_provisional else "",
    )
    lines = table.rows
    return render(
        request,
        "leaderboard.html",
        rules=rules,
        families=[load(name) for name in families()],
        chosen=chosen,
        is_mine=is_mine,
        paces=preview.NAMES,
        states=STATES,
        lines=lines,
        blocks=[
            [line for line in lines if not line.is_provisional],
            [line for line in lines if line.is_provisional],
        ],
        places={line.name: place for place, line in placed(leaderboard.items, is_whole=True)},
        leaders=[line for line in leaderboard.items if line.rank is not None][:3]
        if not (chosen.is_part or chosen.after)
        else [],
        table=table,
        now=datetime.now(UTC),
        sides=sorted_table(request, _sides_of(rules.sides), leaderboard.sides, parameter="sides"),
        spread=_spread(lines),
        **{**shown, "recent": html_table.sort_games(request, shown["recent"].items)},
    )


def _spread(lines: Sequence[LeaderboardLine]) -> tuple[float, float]:
    """Return the ends of the scale on which the intervals of these ratings are drawn."""
    low = min((line.mu - 2 * line.sigma for line in lines), default=0.0)
    return low, max((line.mu + 2 * line.sigma for line in lines), default=50.0)


def _sides_of(names: Sequence[str]) -> tuple[Column[SideResults], ...]:
    """Return the columns of the table of results by side; the titles have the family's names of the sides."""
    sides: Iterable[tuple[str, str]] = zip(SIDES, names, strict=True)
    titles = {side: text("%(side)s won") % {"side": translated(name)} for side, name in sides}
    return tuple(replace(one, title=titles.get(one.key, one.title)) for one in _SIDES)


@routes.get("/{family}/compare")
@allow_parameters("pool", "bot", "by")
async def compare(request: web.Request) -> web.Response:
    """Plot the bots of `?bot=`, which may be repeated; by default the three best of the pool."""
    rules, query = path_family(request), request.query
    by = choice(query, "by", ("date", "game"), "date")
    pool = query.get("pool") or rules.family
    names = query.getall("bot", [])

    def read() -> dict[str, Any]:
        comparison = services.leaderboard.compare(arena_of(request), rules.family, pool, names)
        return {"found": comparison, "drawing": rating_plot.comparison_plot(pool, comparison.curves, by)}

    most = services.leaderboard.MAX_COMPARED
    return render(request, "compare.html", rules=rules, by=by, most=most, **await run(read))


@routes.get("/{family}")
@allow_parameters("games", "variants", "options")
async def show_family(request: web.Request) -> web.Response:
    """Show a family: rules, variants, options, notation, best bots, latest games, sample bots."""
    try:
        rules = path_family(request)
    except Problem as problem:  # a word after the address of the site may be the name of a bot
        bots = await run(services.bot.similar, arena_of(request), request.match_info["family"])
        problem.hint = ""
        problem.extra["near"] = [*problem.extra["near"], *(f"/bots/{bot}" for bot in bots)]
        raise
    overview = await run(services.front_page.of_family, arena_of(request), rules.family)
    return render(
        request,
        "family.html",
        rules=rules,
        found=overview,
        drawing=await run(start_drawing, rules, rules.variants[0].name),
        sprites=board.sprites([rules]),
        example=await run(_example, rules),
        recent=html_table.sort_games(request, overview.recent),
        variants=sorted_table(request, _VARIANTS, rules.variants[:MAX_VARIANTS], parameter="variants"),
        options=sorted_table(request, _OPTIONS, rules.options, parameter="options"),
        more_variants=max(0, len(rules.variants) - MAX_VARIANTS),
    )


def start_drawing(rules: Rules, variant: str) -> Any:
    """Draw the first position of a variant, with a label for those who cannot see it."""
    scenes = Scenes(rules.settle(variant))
    names = {"title": translated(rules.title), "name": translated(variant)}
    label = text("%(title)s, start of %(name)s") % names
    return board.svg(rules, scenes.items[0], label=label, is_small=False)


def _example(rules: Rules) -> list[tuple[str, str]]:
    """Return a few first moves in canonical and in displayed notation."""
    from referee.rules.position import Position

    position = Position.start(rules.settle())
    return [(rules.notation.write_move(code), position.display(code)) for code in position.moves[:4]]
