"""The explorer: what was played in a position, move by move."""

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
    Column("score", "Score", "Share of the points of who moves"),
    Column("rating", "Strength", "Mean mu, today, of those who played it"),
    Column("performance", "Performance", "The strength that such results against such opponents speak of"),
    Column("last", "Last played"),
    text_column("", "Best game"),
)


@routes.get("/{family}/explorer")
@allow_parameters(*REQUEST_FIELDS, "sort")
async def show(request: web.Request) -> web.Response:
    """A position: the start, `?position=`, or behind `?moves=`; what was played in it and how it went."""
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
    pools = [name for name, _ in await run(arena.store.ratings.pools) if name.split("/")[0] == rules.family]
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
    """What is asked. Raises Problem (400)."""
    asked: dict[str, Any] = {name: text or None for name, text in given.items()}
    if given["rating"]:
        if not re.fullmatch(r"-?\d{1,3}(\.\d{1,3})?", given["rating"], re.ASCII):
            raise Problem(
                "bad-request", f"no strength {quoted(given['rating'])}", hint="a number such as 25", field="rating"
            )
        asked["rating"] = float(given["rating"])
    return ExplorerRequest(rules.family, **asked)


def _value(one: PlayedMove, key: str) -> Any:
    return one.shown if key == "move" else getattr(one, key) or None


def _link(request: web.Request, found: ExplorerResult, move: str) -> str:
    """The same question behind one more move."""
    kept = {name: value for name, value in request.query.items() if name not in ("position", "moves", "sort")}
    query = {**kept, "variant": found.variant, "position": found.position, "moves": move}
    return str(URL(request.path).with_query(query))


def _drawing(rules: Rules, found: ExplorerResult) -> Any:
    scene = Scenes(rules.settle(found.variant), found.position).items[0]
    return board.svg(rules, scene, label=f"{rules.title}, the position asked for", is_small=False)
