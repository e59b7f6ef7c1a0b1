"""A family of games: its rules in one screen. Names no family: all of it is read from `Rules`."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena.pages import columns
from arena.pages.drawing import board
from arena.pages.drawing.scene import Scenes
from arena.pages.columns import column
from arena.pages.html_table import arranged
from arena.pages.page import family_in, page, run, store_of, takes
from referee.rules.rules import Rules

routes = web.RouteTableDef()
MAX_VARIANTS = 60
_VARIANTS = (column("name", "Name"), column("", "Options"), column("note", "Note"))
_OPTIONS = (
    column("name", "Name"),
    column("", "Default"),
    column("", "Values"),
    column("changes", "Changes"),
    column("meaning", "Meaning"),
)


def start_drawing(rules: Rules, variant: str) -> Any:
    """The start of a variant as a drawing."""
    scenes = Scenes(rules.settle(variant))
    return board.svg(rules, scenes.items[0], label=f"{rules.title}, start of {variant}", is_small=False)


@routes.get("/{family}")
@takes("games", "variants", "options")
async def show(request: web.Request) -> web.Response:
    """A family: rules, variants, options, notation, best bots, latest games, sample bots."""
    rules = family_in(request)
    store = store_of(request)

    def read() -> dict[str, Any]:
        owner = store.samples.owner_id()
        pools = [(name, games) for name, games in store.ratings.pools() if name.split("/")[0] == rules.family]
        return {
            "pools": pools,
            "top": store.ratings.leaderboard(rules.family, limit=10).items,
            "recent": store.games.latest(family=rules.family, limit=10).items,
            "samples": store.bots.page(owner_id=owner, family=rules.family).items if owner else [],
            "tournaments": store.tournaments.page(family=rules.family, limit=5).items,
            "drawing": start_drawing(rules, rules.variants[0].name),
        }

    found = await run(read)
    found["recent"] = columns.games(request, found["recent"])
    return page(
        request,
        "family.html",
        rules=rules,
        sprites=board.sprites([rules]),
        example=await run(_example, rules),
        variants=arranged(request, _VARIANTS, rules.variants[:MAX_VARIANTS], parameter="variants"),
        options=arranged(request, _OPTIONS, rules.options, parameter="options"),
        more_variants=max(0, len(rules.variants) - MAX_VARIANTS),
        **found,
    )


def _example(rules: Rules) -> list[tuple[str, str]]:
    """A few first moves in canonical and in people's notation."""
    from referee.rules.position import Position

    position = Position.start(rules.settle())
    return [(rules.notation.write_move(code), position.display(code)) for code in position.moves[:4]]
