"""The front page: the game on air, further games in progress, what comes today, leaders."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena import services
from arena.documents.game import GameItem
from arena.documents.win_problem import WinProblemResponse
from arena.http.request_context import CONTEXT
from arena.pages import columns
from arena.pages.drawing import board
from arena.pages.drawing.replay import Replay
from arena.pages.language import text
from arena.pages.page import REPLAYS, allow_parameters, arena_of, render, run
from arena.pages.routes.game import chances_of, gauge, is_first_light, sentence
from arena.pages.routes.problems import drawing
from arena.pages.routes.problems import sentence as sentence_of
from arena.services.front_page import Ratings
from referee.rules import load
from referee.rules.core import SIDES

routes = web.RouteTableDef()
LAST_MOVES = 6
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


def _shown(game: GameItem, replay: Replay, *, is_small: bool) -> dict[str, Any]:
    """Draw the last position of a game."""
    label = text("%(said)s, ply %(ply)s") % {"said": sentence(game, replay), "ply": replay.last}
    drawing = board.svg(replay.rules, replay.scenes[-1], label=label, is_small=is_small)
    return {
        "game": game,
        "rules": replay.rules,
        "replay": replay,
        "ply": replay.last,
        "drawing": drawing,
        "gauge": gauge(chances_of(replay), replay.last),
        "is_first_light": is_first_light(replay.rules),
    }


def _problem(problem: WinProblemResponse) -> dict[str, Any]:
    """Draw the problem of the month, with its question."""
    return {"id": problem.id, "drawing": drawing(problem), "question": sentence_of(problem)}


@routes.get("/")
@allow_parameters("games")
async def show(request: web.Request) -> web.Response:
    """Show the front page."""
    found = await run(services.front_page.read, arena_of(request))
    live, replays = request.app[CONTEXT].live, request.app[REPLAYS]
    boards: list[dict[str, Any]] = []
    for game in found.running:
        known = live.of(game)
        plies = list(known.plies) if known else []
        replay = await run(replays.of_moves, game, found.specs[game.id], plies)
        shown = _shown(game, replay, is_small=bool(boards))
        boards.append({**shown, "moved_at": known.moved_at if known else None, "event": found.specs[game.id].event})
    if found.of_the_day:
        line, record = found.of_the_day
        replay = await run(replays.of_record, record, line.attempt)
        boards.append({**_shown(line, replay, is_small=False), "moved_at": None, "event": record.event})
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
        last_moves=on_air["replay"].scenes[1:][-LAST_MOVES:] if on_air else (),
        boards=boards[1:],
        problem=await run(_problem, found.problem) if found.problem else None,
        families=[{"rules": load(name), "games": games, "top": top} for name, (games, top) in found.leaders.items()],
        recent=columns.sort_games(request, found.recent, with_family=True),
        sprites=board.sprites(rules.values()),
    )
