"""The front page: games in progress, next games, leaders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aiohttp import web

from arena.documents.tournament import TournamentQuery
from arena.http.request_context import CONTEXT
from arena.pages import columns, filters
from arena.pages.drawing import board
from arena.pages.drawing.scene import Scenes
from arena.pages.page import REPLAYS, allow_parameters, render, run, store_of
from arena.pages.routes.game import sentence
from arena.store import Store
from arena.store.games.games import GameLine
from referee.game.record import GameRecord
from referee.rules import families, load
from referee.rules.core import ParseError

routes = web.RouteTableDef()
MAX_LIVE = 10
"""Maximum of running games shown as boards; without any, latest results are shown."""
MAX_NEXT = 6
"""Maximum of games listed as next."""


def _ends(store: Store) -> dict[str, tuple[Any, GameRecord]]:
    """Return the latest result of every family with its record."""
    latest = [line for name in families() for line in store.games.latest(family=name, limit=1).items]
    latest.sort(key=lambda line: -(line.commit_number or 0))
    return {line.id: (line, store.games.record(line.id)) for line in latest}


def _end_of(line: Any, record: GameRecord) -> dict[str, Any] | None:
    """Draw the last position of a finished game; None if it cannot be shown."""
    rules = load(line.family)
    try:
        scenes = Scenes(rules.settle(record.variant, record.options), record.final_position or None)
    except (ParseError, ValueError):
        return None
    label = (
        f"{filters.plain(line.first, 80)} {filters.result(line.winner)} {filters.plain(line.second, 80)}, last position"
    )
    return {"game": line, "rules": rules, "drawing": board.svg(rules, scenes.items[0], label=label, is_small=True)}


def _strongest_first(store: Store, games: Sequence[GameLine]) -> list[GameLine]:
    """Sort games by the ratings of both bots in their pool. The page shows the first one large."""
    pools = {(line.pool, line.version_id): line.conservative for line in store.ratings.of_versions(_bots(games))}

    def strength(game: GameLine) -> float:
        return sum(pools.get((game.pool, one), 0.0) for one in (game.first_id, game.second_id))

    return sorted(games, key=strength, reverse=True)


def _bots(games: Sequence[GameLine]) -> list[int]:
    return sorted({one for game in games for one in (game.first_id, game.second_id)})


def _read(store: Store) -> dict[str, Any]:
    games = dict(store.ratings.pools())
    running = _strongest_first(store, store.games.in_state("running", MAX_LIVE))
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
        "next": store.games.in_state("queued", MAX_NEXT),
        "specs": {game.id: store.games.spec(game.id) for game in running},
        "tournaments": store.tournaments.in_states("running", "draining", "paused", "scheduled")[:12],
        "finished": store.tournaments.page(TournamentQuery(state="finished", limit=5)).items,
        "recent": store.games.latest(limit=8).items,
        "ends": {} if running else _ends(store),
    }


@routes.get("/")
@allow_parameters("games")
async def show(request: web.Request) -> web.Response:
    """Show the front page."""
    found = await run(_read, store_of(request))
    live = request.app[CONTEXT].live
    boards: list[dict[str, Any]] = []
    for game in found.pop("running"):
        known = live.of(game)
        plies = list(known.plies) if known else []
        replay = await run(request.app[REPLAYS].of_moves, game, found["specs"][game.id], plies)
        label = f"{sentence(game, replay)}, ply {replay.last}"
        drawing = board.svg(replay.rules, replay.scenes[-1], label=label, is_small=bool(boards))
        shown = {"game": game, "rules": replay.rules, "replay": replay, "ply": replay.last, "drawing": drawing}
        boards.append({**shown, "moved_at": known.moved_at if known else None})
    drawn = [await run(_end_of, *one) for one in found.pop("ends").values()]
    ends = [one for one in drawn if one is not None]
    found["recent"] = columns.sort_games(request, found["recent"], with_family=True)
    rules = {one["rules"].family: one["rules"] for one in [*boards, *ends]}
    return render(request, "home.html", boards=boards, ends=ends, sprites=board.sprites(rules.values()), **found)
