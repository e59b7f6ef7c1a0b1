"""The page of a family of games, all of it read from its `Rules`."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena import services
from arena.pages import columns
from arena.pages.columns import text_column
from arena.pages.drawing import board
from arena.pages.drawing.scene import Scenes
from arena.pages.html_table import sorted_table
from arena.pages.language import text, translated
from arena.pages.page import allow_parameters, arena_of, path_family, render, run
from referee.rules.rules import Rules

routes = web.RouteTableDef()
MAX_VARIANTS = 60
_VARIANTS = (text_column("name", "Name"), text_column("", "Options"), text_column("note", "Note"))
_OPTIONS = (
    text_column("name", "Name"),
    text_column("", "Default"),
    text_column("", "Values"),
    text_column("changes", "Changes"),
    text_column("meaning", "Meaning"),
)


def start_drawing(rules: Rules, variant: str) -> Any:
    """Draw the start of a variant."""
    scenes = Scenes(rules.settle(variant))
    names = {"title": translated(rules.title), "name": translated(variant)}
    label = text("%(title)s, start of %(name)s") % names
    return board.svg(rules, scenes.items[0], label=label, is_small=False)


@routes.get("/{family}")
@allow_parameters("games", "variants", "options")
async def show(request: web.Request) -> web.Response:
    """Show a family: rules, variants, options, notation, best bots, latest games, sample bots."""
    rules = path_family(request)
    found = await run(services.front_page.of_family, arena_of(request), rules.family)
    return render(
        request,
        "family.html",
        rules=rules,
        found=found,
        drawing=await run(start_drawing, rules, rules.variants[0].name),
        sprites=board.sprites([rules]),
        example=await run(_example, rules),
        recent=columns.sort_games(request, found.recent),
        variants=sorted_table(request, _VARIANTS, rules.variants[:MAX_VARIANTS], parameter="variants"),
        options=sorted_table(request, _OPTIONS, rules.options, parameter="options"),
        more_variants=max(0, len(rules.variants) - MAX_VARIANTS),
    )


def _example(rules: Rules) -> list[tuple[str, str]]:
    """Return a few first moves in canonical and in displayed notation."""
    from referee.rules.position import Position

    position = Position.start(rules.settle())
    return [(rules.notation.write_move(code), position.display(code)) for code in position.moves[:4]]
