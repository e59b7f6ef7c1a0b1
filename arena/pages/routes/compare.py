"""The ratings of several bots in one plot; what is compared stands in the address, so that it can be shared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aiohttp import web

from arena.errors import did_you_mean, near
from arena.http.problem import Problem, quoted
from arena.pages import rating_plot
from arena.pages.html_table import choice
from arena.pages.page import allow_parameters, path_family, render, run, store_of
from arena.store.ratings.rating_line import RatingLine

routes = web.RouteTableDef()
MOST = 6
"""Bots of one plot; more lines cannot be told apart."""
_OFFERED = 300


@routes.get("/{family}/compare")
@allow_parameters("pool", "bot", "by")
async def show(request: web.Request) -> web.Response:
    """The bots of `?bot=`, given several times, in a pool; without any the best three."""
    rules, query, store = path_family(request), request.query, store_of(request)
    by = choice(query, "by", ("date", "game"), "date")

    def read() -> dict[str, Any]:
        known = [name for name, _ in store.ratings.pools() if name.split("/")[0] == rules.family]
        pool = choice(query, "pool", known, rules.family)
        lines = store.ratings.leaderboard(pool, with_retired=True, limit=_OFFERED).items
        names = list(dict.fromkeys(line.bot for line in lines))
        chosen = list(dict.fromkeys(query.getall("bot", names[:3])))
        for name in chosen:
            if name not in names:
                hint = did_you_mean(near(name, names)) or "choose from the list of this page"
                raise Problem("bad-request", f"no bot {quoted(name)} has a rating in {pool}", hint=hint, field="bot")
        if len(chosen) > MOST:
            raise Problem("bad-request", f"{len(chosen)} bots are too many for one plot", hint=f"choose {MOST} of them")
        bots = {name: _versions(lines, name) for name in chosen}
        return {
            "pool": pool,
            "pools": known,
            "bots": names,
            "chosen": {name: _best(lines, name) for name in chosen},
            "drawing": rating_plot.comparison_plot(store, pool, bots, by),
        }

    return render(request, "compare.html", rules=rules, by=by, most=MOST, **await run(read))


def _versions(lines: Sequence[RatingLine], bot: str) -> list[int]:
    """Its versions, oldest first."""
    return [line.version_id for line in sorted(lines, key=lambda line: line.number) if line.bot == bot]


def _best(lines: Sequence[RatingLine], bot: str) -> RatingLine:
    return next(line for line in lines if line.bot == bot)
