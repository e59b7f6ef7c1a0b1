"""The front page: a game on a large board, other running games, coming tournaments, cards of features, leaders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from arena import services
from arena.documents.analysis import AnalysedMove
from arena.documents.game import GameItem
from arena.http.request_context import CONTEXT
from arena.pages import html_table, language
from arena.pages.drawing import board
from arena.pages.drawing.replay import Replay
from arena.pages.filters import ending, plain
from arena.pages.page import REPLAYS, allow_parameters, arena_of, contributions, render, run
from arena.pages.routes.game import drawn, live_board
from arena.services.front_page import Ratings
from referee.rules import load
from referee.rules.core import SIDES
from referee.rules.position import Position

routes = web.RouteTableDef()
LAST_MOVES = 40
"""Number of latest moves next to the large board, an even one: two columns, of which the end is shown."""


def _players(game: GameItem, replay: Replay, ratings: Ratings) -> list[dict[str, Any]]:
    """Return both players of the large board, that of the upper side first: rating, clock, and the latest report."""
    players = []
    for index, side in reversed(list(enumerate(SIDES))):
        number = replay.last_of(side, replay.last)
        version = game.second_id if index else game.first_id
        players.append(
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
    return players


def _last_moves(replay: Replay) -> list[tuple[int, str]]:
    """Return the numbers and texts of the latest plies, in whole pairs; empty texts outside of the game."""
    end = replay.last + replay.last % 2
    plies = range(end - LAST_MOVES + 1, end + 1)
    return [(ply, replay.scenes[ply].move if 0 < ply <= replay.last else "") for ply in plies]


def _story(game: GameItem, replay: Replay, turning_point: AnalysedMove | None) -> list[str]:
    """Tell in two sentences how a game went: where it turned, and how it ended."""
    names = {"first": plain(game.first, 60), "second": plain(game.second, 60)}
    if game.winner == "draw" or game.winner is None:
        end = language.text("The game was drawn at ply %(ply)s: %(ending)s.")
        winner, loser = "", ""
    else:
        end = language.text("%(winner)s won at ply %(ply)s: %(ending)s.")
        winner, loser = names[game.winner], names["second" if game.winner == "first" else "first"]
    told = {"winner": winner, "ply": replay.last, "ending": ending(game.termination, loser)}
    return [sentence for sentence in (_turn(game, replay, names, turning_point), end % told) if sentence]


def _turn(game: GameItem, replay: Replay, names: Mapping[str, str], turning_point: AnalysedMove | None) -> str:
    """Tell where a game turned: by its analysis, else by the scores of the bots; empty if they say nothing."""
    if turning_point is not None and replay.ruleset is not None and turning_point.number <= replay.last:
        number = turning_point.number
        values = {"name": names[turning_point.side], "ply": number, "move": replay.scenes[number].move}
        if not turning_point.best:
            return language.text("%(name)s had a won game until ply %(ply)s, %(move)s.") % values
        before = Position.start(replay.ruleset, replay.scenes[number - 1].position)
        values["best"] = before.display(before.read(turning_point.best))
        text = language.text("%(name)s had a won game until ply %(ply)s, %(move)s; the engine preferred %(best)s.")
        return text % values
    if game.winner not in SIDES:
        return ""
    sign = 1 if game.winner == "first" else -1
    scores = [(number, score) for number in range(1, replay.last + 1) if (score := replay.score(number)) is not None]
    behind = max((number for number, score in scores if sign * score <= 0), default=0)
    ahead = min((number for number, _ in scores if number > behind), default=0)
    if not ahead:
        return ""
    values = {"name": names[game.winner], "ply": ahead}
    return language.text("By the scores of both bots, %(name)s was ahead from ply %(ply)s on.") % values


@routes.get("/")
@allow_parameters("games")
async def show(request: web.Request) -> web.Response:
    """Show the front page."""
    front = await run(services.front_page.read, arena_of(request))
    boards: list[dict[str, Any]] = []
    live = request.app[CONTEXT].live  # the first game is large: one that has begun
    begun = {game.id for game in front.running if (known := live.of(game)) and known.plies}
    for game in sorted(front.running, key=lambda game: game.id not in begun):
        boards.append(await live_board(request, game, front.specs[game.id], is_small=bool(boards)))
    if front.of_the_day:
        line, record = front.of_the_day
        replay = await run(request.app[REPLAYS].of_record, record, line.attempt)
        boards.append({**drawn(line, replay), "moved_at": None, "event": record.event})
    on_air = boards[0] if boards else None
    cards = await contributions(request, "card")
    rules = {shown["rules"].family: shown["rules"] for shown in boards}
    rules |= {name: load(name) for card in cards for name in card.families}
    preparation = request.app[CONTEXT].preparation
    is_preparing = preparation is not None and preparation.ready < preparation.families
    return render(
        request,
        "home.html",
        keep="private, no-cache" if is_preparing else "no-cache",
        preparation=preparation if is_preparing else None,
        found=front,
        next_start=front.next_start,
        on_air=on_air,
        is_live=bool(front.running),
        players=await run(_players, on_air["game"], on_air["replay"], front.ratings) if on_air else (),
        last_moves=_last_moves(on_air["replay"]) if on_air else (),
        story=await run(_story, front.of_the_day[0], on_air["replay"], front.turning_point)
        if on_air and front.of_the_day
        else (),
        boards=boards[1:],
        cards=cards,
        families=[{"rules": load(name), "games": games, "top": top} for name, (games, top) in front.leaders.items()],
        recent=html_table.sort_games(request, front.recent, with_family=True),
        sprites=board.sprites(rules.values()),
    )
