"""The opening explorer: the moves played in a position, and their results."""

from __future__ import annotations

import re
from typing import Any

from aiohttp import web
from yarl import URL

from arena import services
from arena.errors import ArenaError
from arena.http.problem import Problem, quoted
from arena.pages.columns import text_column
from arena.pages.drawing import board
from arena.pages.drawing.scene import Scenes
from arena.pages.html_table import Column, sorted_table
from arena.pages.page import allow_parameters, arena_of, error_sentence, path_family, render, run, run_use_case
from arena.services.explorer import REQUEST_FIELDS, ExplorerRequest, ExplorerResult, PlayedMove
from referee.rules.rules import Rules

routes = web.RouteTableDef()
_COLUMNS = (
    text_column("move", "Move"),
    Column("games", "Games"),
    Column("", "Results"),
    Column("score", "Score", "share of the points of the side to move"),
    Column("rating", "Strength", "mean of the current mu of the bots that played it"),
    Column(
        "performance",
        "Performance",
        "performance rating: the strength that these results against these opponents suggest",
    ),
    Column("last", "Last played"),
    text_column("", "Best game"),
)


@routes.get("/{family}/explorer")
@allow_parameters(*REQUEST_FIELDS, "sort")
async def show(request: web.Request) -> web.Response:
    """Show a position: the start, `?position=`, or the one after `?moves=`."""
    rules = path_family(request)
    given = {name: request.query.get(name, "")[:2001].strip() for name in REQUEST_FIELDS}
    problem, arena = "", arena_of(request)
    try:
        found = await run_use_case(services.explorer.explore, arena, _question(rules, given))
    except ArenaError as error:
        if error.status >= 500:
            raise
        problem = error_sentence(error)
        found = await run_use_case(services.explorer.explore, arena, ExplorerRequest(rules.family))
    moves = sorted_table(request, _COLUMNS, found.moves, value=_value)
    pools = [one.pool for one in await run(services.leaderboard.pools, arena, rules.family)]
    return render(
        request,
        "explorer.html",
        status=400 if problem else 200,
        problem=problem,
        rules=rules,
        found=found,
        given=given,
        moves=moves,
        links={one.move: _link(request, found, one.move) for one in found.moves},
        sources=await run(arena.store.archive.names, "source"),
        pools=pools,
        sprites=board.sprites([rules]),
        drawing=await run(_drawing, rules, found),
    )


def _question(rules: Rules, given: dict[str, str]) -> ExplorerRequest:
    """Return the query for the explorer. Raises Problem (400)."""
    asked: dict[str, Any] = {name: text or None for name, text in given.items()}
    if given["rating"]:
        if not re.fullmatch(r"-?\d{1,3}(\.\d{1,3})?", given["rating"], re.ASCII):
            raise Problem(
                "bad-request",
                f"invalid strength {quoted(given['rating'])}",
                hint="expected a number such as 25",
                field="rating",
            )
        asked["rating"] = float(given["rating"])
    return ExplorerRequest(rules.family, **asked)


def _value(one: PlayedMove, key: str) -> Any:
    return one.shown if key == "move" else getattr(one, key) or None


def _link(request: web.Request, found: ExplorerResult, move: str) -> str:
    """Return the address of the position after one more move."""
    kept = {name: value for name, value in request.query.items() if name not in ("position", "moves", "sort")}
    query = {**kept, "variant": found.variant, "position": found.position, "moves": move}
    return str(URL(request.path).with_query(query))


def _drawing(rules: Rules, found: ExplorerResult) -> Any:
    scene = Scenes(rules.settle(found.variant), found.position).items[0]
    return board.svg(rules, scene, label=f"{rules.title}, position", is_small=False)
