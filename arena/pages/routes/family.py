"""The page of a family of games, all of it read from its `Rules`."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena.documents.tournament import TournamentQuery
from arena.pages import columns
from arena.pages.columns import text_column
from arena.pages.drawing import board
from arena.pages.drawing.scene import Scenes
from arena.pages.html_table import sorted_table
from arena.pages.page import allow_parameters, path_family, render, run, store_of
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
    return board.svg(rules, scenes.items[0], label=f"{rules.title}, start of {variant}", is_small=False)


@routes.get("/{family}")
@allow_parameters("games", "variants", "options")
async def show(request: web.Request) -> web.Response:
    """Show a family: rules, variants, options, notation, best bots, latest games, sample bots."""
    rules = path_family(request)
    store = store_of(request)

    def read() -> dict[str, Any]:
        owner = store.samples.owner_id()
        pools = [(name, games) for name, games in store.ratings.pools() if name.split("/")[0] == rules.family]
        return {
            "pools": pools,
            "top": store.ratings.leaderboard(rules.family, limit=10).items,
            "recent": store.games.latest(family=rules.family, limit=10).items,
            "samples": store.bots.page(owner_id=owner, family=rules.family).items if owner else [],
            "tournaments": store.tournaments.page(TournamentQuery(family=rules.family, limit=5)).items,
            "drawing": start_drawing(rules, rules.variants[0].name),
        }

    found = await run(read)
    found["recent"] = columns.sort_games(request, found["recent"])
    return render(
        request,
        "family.html",
        rules=rules,
        sprites=board.sprites([rules]),
        example=await run(_example, rules),
        variants=sorted_table(request, _VARIANTS, rules.variants[:MAX_VARIANTS], parameter="variants"),
        options=sorted_table(request, _OPTIONS, rules.options, parameter="options"),
        more_variants=max(0, len(rules.variants) - MAX_VARIANTS),
        **found,
    )


def _example(rules: Rules) -> list[tuple[str, str]]:
    """Return a few first moves in canonical and in displayed notation."""
    from referee.rules.position import Position

    position = Position.start(rules.settle())
    return [(rules.notation.write_move(code), position.display(code)) for code in position.moves[:4]]
