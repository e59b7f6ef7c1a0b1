"""The front page: what is being played now, what comes next, who leads. Refuses to know any family."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena.api.call import SERVICES
from arena.store import Store
from arena.web import board, lists
from arena.web.pages.game import sentence
from arena.web.view import REPLAYS, page, run, store_of
from referee.games import families, load

routes = web.RouteTableDef()
LIVE = 6
"""Running games that are shown as boards."""


def _read(store: Store) -> dict[str, Any]:
    games = dict(store.ratings.pools())
    running = store.games.in_state("running", LIVE)
    return {
        "families": [
            {
                "rules": load(name),
                "games": games.get(name, 0),
                "top": store.ratings.leaderboard(name, limit=5).items,
            }
            for name in families()
        ],
        "running": running,
        "specs": {game.id: store.games.spec(game.id) for game in running},
        "tournaments": store.tournaments.in_states("running", "draining", "paused", "scheduled")[:12],
        "finished": store.tournaments.page(state="finished", limit=5).items,
        "recent": store.games.latest(limit=8).items,
    }


@routes.get("/")
async def show(request: web.Request) -> web.Response:
    """The front page."""
    found = await run(_read, store_of(request))
    live = request.app[SERVICES].live.games
    boards = []
    for game in found.pop("running"):
        plies = list(live[game.id].plies) if game.id in live else []
        replay = await run(request.app[REPLAYS].of_moves, game, found["specs"][game.id], plies)
        label = f"{sentence(game, replay)}, ply {replay.last}"
        drawing = board.svg(replay.rules, replay.scenes[-1], label=label, is_small=True)
        boards.append({"game": game, "replay": replay, "drawing": drawing})
    found["recent"] = lists.games(request, found["recent"], with_family=True)
    shown = {one["replay"].rules.family: one["replay"].rules for one in boards}
    return page(request, "home.html", boards=boards, sprites=board.sprites(shown.values()), **found)
