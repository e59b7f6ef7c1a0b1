"""The opening explorer: the moves played in a position, and their results."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from aiohttp import web
from markupsafe import Markup
from yarl import URL

from arena import services
from arena.documents.archive import ExplorerQuery, ExplorerResponse, PlayedMoveItem
from arena.documents.columns import MOVES
from arena.pages import language
from arena.pages.drawing import board, plot
from arena.pages.drawing.scene import Scenes
from arena.pages.html_table import sorted_table
from arena.pages.page import allow_parameters, arena_of, error_sentence, path_family, render, run, run_use_case
from arena.pages.query_form import form_names, read_form
from arena.pages.routes.archive import source_options
from arena.pages.viewer import is_first_light
from referee.errors import ArenaError
from referee.rules import families, load
from referee.rules.rules import Rules

routes = web.RouteTableDef()
MAX_ARROWS = 60
"""Most moves of a position that have an arrow; one takes half a millisecond."""


@routes.get("/explore")
@allow_parameters()
async def index(request: web.Request) -> web.Response:
    """Show links to the archive, and to the boards, explorers and starts of all families."""
    return render(request, "explore.html", families=[load(name) for name in families()])


@routes.get("/{family}/explorer")
@allow_parameters(*form_names(ExplorerQuery), "sort")
async def show(request: web.Request) -> web.Response:
    """Show a position: the start, `?position=`, or the one after `?moves=`."""
    rules = path_family(request)
    form = read_form(request, ExplorerQuery)
    problem, arena = "", arena_of(request)
    try:
        explored = await run_use_case(services.explorer.explore, arena, rules.family, form.query)
    except ArenaError as error:
        if error.status >= 500:
            raise
        problem = error_sentence(error)
        explored = await run_use_case(services.explorer.explore, arena, rules.family, ExplorerQuery())
    moves = sorted_table(request, MOVES, explored.moves)
    pools = [pool.pool for pool in await run(services.leaderboard.pools, arena, rules.family)]
    return render(
        request,
        "explorer.html",
        status=400 if problem else 200,
        problem=problem,
        rules=rules,
        found=explored,
        form=replace(form, given={**form.given, "variant": explored.variant}),
        moves=moves,
        links={move.move: _link(request, explored, move.move) for move in explored.moves},
        arrows=await run(_arrows, rules, explored),
        options={
            "variant": [(variant.name, variant.name) for variant in rules.variants],
            "pool": [(name, name) for name in pools],
            "source": source_options(await run(services.archive.names, arena, "source")),
        },
        sprites=board.sprites([rules]),
        drawing=await run(_drawing, rules, explored),
        drawn_outcomes=partial(_outcomes, is_first_light(rules)),
    )


def _link(request: web.Request, found: ExplorerResponse, move: str) -> str:
    """Return the address of the position after one more move."""
    kept = {name: value for name, value in request.query.items() if name not in ("position", "moves", "sort")}
    query = {**kept, "variant": found.variant, "position": found.position, "moves": move}
    return str(URL(request.path).with_query(query))


def _arrows(rules: Rules, found: ExplorerResponse) -> dict[str, str]:
    """Return the arrows of the most frequent moves, for the script that shows those of the row under the pointer."""
    drawn = {}
    for played in found.moves[:MAX_ARROWS]:
        scenes = Scenes(rules.settle(found.variant), found.position)
        scenes.extend([played.move])
        drawn[played.move] = board.arrows(scenes.items[-1])
    return drawn


def _outcomes(is_light: bool, one: ExplorerResponse | PlayedMoveItem) -> Markup:
    """Draw the results of a move as a bar in the colours of the sides; the page shows the numbers below it."""
    first, second = ("light", "dark") if is_light else ("dark", "light")
    return plot.share(((first, one.first), ("even", one.draw), (second, one.second)))


def _drawing(rules: Rules, found: ExplorerResponse) -> Any:
    scene = Scenes(rules.settle(found.variant), found.position).items[0]
    label = language.translated(rules.title) + " – " + language.text("Position")
    return board.svg(rules, scene, label=label, is_small=False)
