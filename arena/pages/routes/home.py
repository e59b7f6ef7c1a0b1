"""The front page: games in progress, next games, leaders."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from arena import services
from arena.documents.game import GameItem
from arena.documents.win_problem import WinProblemResponse
from arena.http.request_context import CONTEXT
from arena.pages import columns, filters
from arena.pages.drawing import board
from arena.pages.drawing.scene import Scenes
from arena.pages.page import REPLAYS, allow_parameters, arena_of, render, run
from arena.pages.routes.game import sentence
from arena.pages.routes.problems import drawing
from arena.pages.routes.problems import sentence as sentence_of
from referee.game.record import GameRecord
from referee.rules import load
from referee.rules.core import ParseError

routes = web.RouteTableDef()


def _end_of(line: GameItem, record: GameRecord) -> dict[str, Any] | None:
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


def _problem(problem: WinProblemResponse) -> dict[str, Any]:
    """Draw the problem of the month, with its question."""
    return {"id": problem.id, "drawing": drawing(problem), "question": sentence_of(problem)}


@routes.get("/")
@allow_parameters("games")
async def show(request: web.Request) -> web.Response:
    """Show the front page."""
    found = await run(services.front_page.read, arena_of(request))
    live = request.app[CONTEXT].live
    boards: list[dict[str, Any]] = []
    for game in found.running:
        known = live.of(game)
        plies = list(known.plies) if known else []
        replay = await run(request.app[REPLAYS].of_moves, game, found.specs[game.id], plies)
        label = f"{sentence(game, replay)}, ply {replay.last}"
        drawing = board.svg(replay.rules, replay.scenes[-1], label=label, is_small=bool(boards))
        shown = {"game": game, "rules": replay.rules, "replay": replay, "ply": replay.last, "drawing": drawing}
        boards.append({**shown, "moved_at": known.moved_at if known else None})
    drawn = [await run(_end_of, *one) for one in found.ends]
    ends = [one for one in drawn if one is not None]
    rules = {one["rules"].family: one["rules"] for one in [*boards, *ends]}
    if found.problem:
        rules[found.problem.family] = load(found.problem.family)
    return render(
        request,
        "home.html",
        found=found,
        boards=boards,
        ends=ends,
        problem=await run(_problem, found.problem) if found.problem else None,
        families=[{"rules": load(name), "games": games, "top": top} for name, (games, top) in found.leaders.items()],
        recent=columns.sort_games(request, found.recent, with_family=True),
        sprites=board.sprites(rules.values()),
    )
