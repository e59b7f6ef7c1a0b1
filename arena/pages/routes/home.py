"""The front page: a game on a large board, other running games, coming tournaments, problem of the month, leaders."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena import services
from arena.documents.game import GameItem
from arena.documents.win_problem import WinProblemResponse
from arena.pages import columns
from arena.pages.drawing import board
from arena.pages.drawing.replay import Replay
from arena.pages.page import REPLAYS, allow_parameters, arena_of, render, run
from arena.pages.routes.game import drawn, live_board
from arena.pages.routes.problems import drawing
from arena.pages.routes.problems import sentence as sentence_of
from arena.services.front_page import Ratings
from referee.rules import load
from referee.rules.core import SIDES

routes = web.RouteTableDef()
LAST_MOVES = 12
"""Number of latest moves next to the large board."""


def _players(game: GameItem, replay: Replay, ratings: Ratings) -> list[dict[str, Any]]:
    """Return both players of the large board, that of the upper side first: rating, clock, and the latest report."""
    found = []
    for index, side in reversed(list(enumerate(SIDES))):
        number = replay.last_of(side, replay.last)
        version = game.second_id if index else game.first_id
        found.append(
            {
                "side": side,
                "name": game.second if index else game.first,
                "colour": replay.sides[index],
                "rating": ratings.get((game.pool, version)),
                "left_ms": replay.clocks[-1][index],
                "is_to_move": not replay.is_over and replay.scenes[-1].to_move == side,
                "score": replay.score(number),
                "report": replay.plies[number - 1] if number else None,
                "line": [scene.move for scene in replay.line(number)[1:]],
            }
        )
    return found


def _problem(problem: WinProblemResponse) -> dict[str, Any]:
    """Draw the problem of the month, with its question."""
    return {"id": problem.id, "drawing": drawing(problem), "question": sentence_of(problem)}


@routes.get("/")
@allow_parameters("games")
async def show(request: web.Request) -> web.Response:
    """Show the front page."""
    found = await run(services.front_page.read, arena_of(request))
    boards: list[dict[str, Any]] = []
    for game in found.running:
        boards.append(await live_board(request, game, found.specs[game.id], is_small=bool(boards)))
    if found.of_the_day:
        line, record = found.of_the_day
        replay = await run(request.app[REPLAYS].of_record, record, line.attempt)
        boards.append({**drawn(line, replay), "moved_at": None, "event": record.event})
    on_air = boards[0] if boards else None
    rules = {one["rules"].family: one["rules"] for one in boards}
    if found.problem:
        rules[found.problem.family] = load(found.problem.family)
    return render(
        request,
        "home.html",
        found=found,
        on_air=on_air,
        is_live=bool(found.running),
        players=await run(_players, on_air["game"], on_air["replay"], found.ratings) if on_air else (),
        max_moves=LAST_MOVES,
        last_moves=on_air["replay"].scenes[1:][-LAST_MOVES:] if on_air else (),
        boards=boards[1:],
        problem=await run(_problem, found.problem) if found.problem else None,
        families=[{"rules": load(name), "games": games, "top": top} for name, (games, top) in found.leaders.items()],
        recent=columns.sort_games(request, found.recent, with_family=True),
        sprites=board.sprites(rules.values()),
    )
