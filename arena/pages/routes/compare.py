"""Compare the ratings of several bots in one plot. The address holds the selection, so that it can be shared."""

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
MAX_BOTS = 6
"""Maximum of bots in one plot; more lines cannot be distinguished."""
_OFFERED = 300


@routes.get("/{family}/compare")
@allow_parameters("pool", "bot", "by")
async def show(request: web.Request) -> web.Response:
    """Plot the bots of `?bot=`, which may be repeated; by default the three best of the pool."""
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
                hint = did_you_mean(near(name, names)) or "choose from the list on this page"
                raise Problem("bad-request", f"no bot {quoted(name)} has a rating in {pool}", hint=hint, field="bot")
        if len(chosen) > MAX_BOTS:
            raise Problem(
                "bad-request", f"too many bots for one plot: {len(chosen)}", hint=f"choose at most {MAX_BOTS}"
            )
        bots = {name: _versions(lines, name) for name in chosen}
        return {
            "pool": pool,
            "pools": known,
            "bots": names,
            "chosen": {name: _best(lines, name) for name in chosen},
            "drawing": rating_plot.comparison_plot(store, pool, bots, by),
        }

    return render(request, "compare.html", rules=rules, by=by, most=MAX_BOTS, **await run(read))


def _versions(lines: Sequence[RatingLine], bot: str) -> list[int]:
    """Return the ids of a bot's versions, oldest first."""
    return [line.version_id for line in sorted(lines, key=lambda line: line.number) if line.bot == bot]


def _best(lines: Sequence[RatingLine], bot: str) -> RatingLine:
    return next(line for line in lines if line.bot == bot)
