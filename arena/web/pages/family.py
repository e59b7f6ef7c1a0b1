"""A family of games: its rules in one screen, and its leaderboards. Names no family: all of it is read from `Rules`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from arena.api.identity import session_of
from arena.api.problem import not_found
from arena.store.ratings import RatingLine
from arena.web import board, lists
from arena.web.scene import Scenes
from arena.web.table import Column, choice, sorting
from arena.web.view import family_in, page, run, store_of
from referee.ratings import PROVISIONAL_GAMES, PROVISIONAL_SIGMA
from referee.rules import Rules

routes = web.RouteTableDef()
MAX_LINES = 500

COLUMNS = (
    Column("place", "#", "place by rating; provisional ones have none", falls=False),
    Column("name", "Bot", is_number=False, falls=False),
    Column("rating", "Rating", "mu − 3 sigma: with 99.9 % confidence the bot is at least that strong"),
    Column("mu", "mu ± 2 sigma", "the estimate with its 95 % interval"),
    Column("games", "Games"),
    Column("wins", "W"),
    Column("draws", "D"),
    Column("losses", "L"),
    Column("score", "Score"),
    Column("opponents", "Opponents", "the average mu of the opponents"),
    Column("drawn", "Draws"),
    Column("forfeits", "Forfeits"),
    Column("beats_next", "P(better)", "the probability to be better than the next in the list"),
    Column("owner", "Owner", is_number=False, falls=False),
)


def start_drawing(rules: Rules, variant: str) -> Any:
    """The start of a variant as a drawing."""
    scenes = Scenes(rules.settle(variant))
    return board.svg(rules, scenes.items[0], label=f"{rules.title}, start of {variant}", is_small=False)


@routes.get("/{family}")
async def show(request: web.Request) -> web.Response:
    """A family: rules, variants, options, notation, best bots, latest games, sample bots."""
    rules = family_in(request)
    store = store_of(request)

    def read() -> dict[str, Any]:
        house = store.bots.house_id()
        pools = [(name, games) for name, games in store.ratings.pools() if name.split("/")[0] == rules.family]
        return {
            "pools": pools,
            "top": store.ratings.leaderboard(rules.family, limit=10).items,
            "recent": store.games.latest(family=rules.family, limit=10).items,
            "samples": store.bots.page(owner_id=house, family=rules.family).items if house else [],
            "tournaments": store.tournaments.page(family=rules.family, limit=5).items,
            "drawing": start_drawing(rules, rules.variants[0].name),
        }

    found = await run(read)
    found["recent"] = lists.games(request, found["recent"])
    return page(
        request,
        "family.html",
        rules=rules,
        sprites=board.sprites([rules]),
        example=await run(_example, rules),
        variants=[(one, dict(one.options)) for one in rules.variants[:60]],
        more_variants=max(0, len(rules.variants) - 60),
        **found,
    )


def _example(rules: Rules) -> list[tuple[str, str]]:
    """A few first moves in canonical and in people's notation."""
    from referee.position import Position

    position = Position.start(rules.settle())
    return [(rules.notation.write_move(code), position.display(code)) for code in position.moves[:4]]


def _value(line: RatingLine, key: str) -> Any:
    if key == "rating":
        return line.conservative
    if key == "drawn":
        return line.draws / line.games if line.games else 0.0
    return getattr(line, key)


@routes.get("/{family}/leaderboard")
async def leaderboard(request: web.Request) -> web.Response:
    """The ratings of a pool: `?pool=`, `?retired=1`, `?mine=1`, `?sort=`."""
    rules = family_in(request)
    store = store_of(request)
    pools = [(name, games) for name, games in await run(store.ratings.pools) if name.split("/")[0] == rules.family]
    known = [name for name, _ in pools] or [rules.family]
    pool = request.query.get("pool") or (rules.family if rules.family in known else known[0])
    if pool not in known and pool != rules.family:
        raise not_found("pool", pool, known)
    retired = choice(request.query, "retired", ("0", "1"), "0") == "1"
    mine = choice(request.query, "mine", ("0", "1"), "0") == "1"
    user = await session_of(request)
    shown = sorting(request, COLUMNS, "place")
    found = await run(
        lambda: store.ratings.leaderboard(
            pool, with_retired=retired, limit=MAX_LINES, after=request.query.get("after") or None
        )
    )
    lines = [line for line in found.items if not mine or (user and line.owner == user.name)]
    return page(
        request,
        "leaderboard.html",
        rules=rules,
        pool=pool,
        pools=pools,
        retired=retired,
        mine=mine,
        lines=shown.sort(lines, _value),
        next=found.next,
        sorting=shown,
        needed_games=PROVISIONAL_GAMES,
        needed_sigma=PROVISIONAL_SIGMA,
        games=dict(pools).get(pool, 0),
        as_of=datetime.now(UTC),
        sides=await run(store.games.sides, pool),
        recent=lists.games(request, (await run(lambda: store.games.latest(pool=pool, limit=10))).items),
    )
