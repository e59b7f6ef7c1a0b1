"""People play bots: the form that starts a game, its board, and the player's moves and draw offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aiohttp import web

from arena import services
from arena.documents.human_game import DecisionRequest, OpponentItem, PlayRequest, PlayResponse
from arena.errors import ForbiddenError, NotFoundError
from arena.http.identity import GUEST_COOKIE, give_cookie, is_same_origin, visitor_of
from arena.http.problem import Problem, as_json, not_found, quoted
from arena.http.request_context import CONTEXT, IDENTITY
from arena.pages import language
from arena.pages.drawing import board as drawing
from arena.pages.drawing.piece_shapes import key
from arena.pages.drawing.scene import Scenes
from arena.pages.html_table import choice
from arena.pages.page import (
    GAME_ID,
    allow_parameters,
    arena_of,
    error_sentence,
    read_fields,
    redirect,
    render,
    run_use_case,
)
from arena.pages.routes.game import render_viewer
from arena.pages.session import checked_form, read_form
from arena.services.people import TIME_CONTROLS, Visitor
from referee.errors import ArenaError
from referee.rules import families, load
from referee.rules.core import SIDES
from referee.rules.rules import Rules
from referee.validation import plain

routes = web.RouteTableDef()
CHAMPION = "champion"
"""The bot that plays at the levels, at its full strength."""
USUAL_LEVEL = 3
"""Level of the opponent that is chosen at first: someone new to a game should have a chance."""
_YEAR_S = 365 * 24 * 3600


@routes.get("/play")
@allow_parameters("family", "variant", "side", "bot", "time")
async def show(request: web.Request) -> web.Response:
    """Show the form that starts a game, and the visitor's open games."""
    family, bot = choice(request.query, "family", families()), request.query.get("bot", "")
    if bot:
        known = await run_use_case(services.people.families_of, arena_of(request), bot)
        family = family or next(iter(known), "")
        if family not in known:
            hint = f"it plays people in {', '.join(known)}" if known else "choose an opponent at /play"
            raise Problem("bad-request", f"invalid bot {quoted(bot)}: it does not play people", hint=hint, field="bot")
    return await _form(request, {**request.query, "family": family})


async def _form(request: web.Request, given: dict[str, Any], problem: str = "", status: int = 200) -> web.Response:
    arena, visitor = arena_of(request), await visitor_of(request)
    rules = family_of(given.get("family", ""))
    opponents, mine = await run_use_case(
        lambda: (
            services.people.opponents(arena, rules.family, visitor),
            services.people_game.games_of(arena, visitor),
        )
    )
    levels = [item for item in opponents if item.level]
    champion = next((item for item in opponents if levels and item.bot == CHAMPION), None)
    return render(
        request,
        "play.html",
        status=status,
        keep="no-store",
        rules=rules,
        families=[load(name) for name in families()],
        opponents=opponents,
        levels=levels,
        champion=champion,
        fresh=[item.version for item in opponents if not item.is_established],
        others=[item for item in opponents if item not in levels and item != champion],
        variants=[variant.name for variant in rules.variants],
        times=TIME_CONTROLS,
        sides=_sides(rules),
        sprites=drawing.sprites([rules]),
        start=drawing.svg(
            rules,
            Scenes(rules.settle()).items[0],
            label=language.text("%(family)s board, start") % {"family": language.translated(rules.title)},
        ),
        given=given,
        chosen=given.get("bot") or _usual(opponents),
        problem=problem,
        mine=mine,
        slots=arena.settings.human_slots,
    )


def _usual(opponents: Sequence[OpponentItem]) -> str:
    """Return the opponent for who chooses none: the champion at `USUAL_LEVEL`, or the first one."""
    return next((item.bot for item in opponents if item.level == USUAL_LEVEL), opponents[0].bot if opponents else "")


def _sides(rules: Rules) -> list[tuple[str, str, str]]:
    """Return the sides to choose from: value, name, and a piece of that side."""
    pieces = {
        side: drawing.prefix(rules.family) + key(next(piece.symbol for piece in rules.pieces if piece.side == side))
        for side in SIDES
    }
    first, second = map(language.translated, rules.sides)
    return [
        ("first", language.text("%(side)s (moves first)") % {"side": first}, pieces["first"]),
        ("second", second, pieces["second"]),
        ("", language.text("random"), ""),
    ]


def family_of(name: str) -> Rules:
    """Return the family of a form, by default the first one. Raises Problem (404)."""
    if name and name not in families():
        raise not_found("family", name, families())
    return load(name or families()[0])


@routes.post("/play")
async def begin(request: web.Request) -> web.Response:
    """Start a game, and redirect to its board."""
    fields = await read_form(request)
    _require_own_page(request)
    visitor = await visitor_of(request)
    is_new = visitor.user is None and not visitor.cookie
    if is_new:
        visitor = Visitor.new(visitor.address)
    family = family_of(fields.get("family", "")).family
    try:
        wish = read_fields(
            PlayRequest,
            family=family,
            bot=fields.get("bot", ""),
            variant=fields.get("variant") or None,
            side=fields.get("side") or None,
            time=fields.get("time", "none"),
            is_rated=fields.get("rated") == "yes",
        )
        game = await run_use_case(services.people.begin, arena_of(request), wish, visitor)
    except ArenaError as error:
        if error.status >= 500:
            raise
        return await _form(request, fields, error_sentence(error), error.status)
    response = redirect(f"/play/{game}")
    if is_new:
        give_cookie(response, request.app[CONTEXT], GUEST_COOKIE, visitor.cookie, _YEAR_S)
    return response


# Guests have no session that could hold a CSRF token: the browser must say where the form is from.
def _require_own_page(request: web.Request) -> None:
    if not is_same_origin(request):
        raise Problem("forbidden", "the form does not come from this site", hint="reload the page and send it again")


@routes.get("/play/{game}")
@allow_parameters("ply", "flip")
async def board(request: web.Request) -> web.Response:
    """Show the board of a game to its human player; redirect others to the viewer."""
    name = request.match_info["game"]
    try:
        seat = await _see(request)
    except (ForbiddenError, NotFoundError):  # a game of others, or between bots
        seat = None
    if seat is None or seat.is_over:
        return redirect(str(request.rel_url.with_path(f"/games/{name}", keep_query=True)))
    query = request.rel_url.query
    if "flip" not in query and seat.side == "second":
        return redirect(str(request.rel_url.update_query(flip="1")))
    return await render_viewer(
        request, "playing.html", keep="no-store", seat=seat, turn=_turn(seat), charts=[], thoughts={}
    )


def _turn(seat: PlayResponse) -> str:
    """Describe what the player waits for, or may do."""
    text = language.text
    if seat.pending:
        return text("Your move %(move)s is stored. It is played as soon as the game starts.") % {"move": seat.pending}
    parts = [text("Your turn.")] if seat.to_move == seat.side else []
    if seat.state == "planned" and seat.ahead:
        parts.append(text("Waiting for a free slot; games before yours: %(count)s.") % {"count": seat.ahead})
    elif seat.state == "planned":
        parts.append(text("Starting your game…"))
    return " ".join(parts) or text("The bot is thinking…")


async def _see(request: web.Request) -> PlayResponse:
    name = request.match_info["game"]
    if not GAME_ID.fullmatch(name):
        raise not_found("game", name)
    return await run_use_case(services.people_game.see, arena_of(request), name, await visitor_of(request))


@routes.get("/play/{game}/state.json")
@allow_parameters()
async def state(request: web.Request) -> web.Response:
    """Return the state of the game for its human player."""
    game = plain(await _see(request))
    body = {name: game[name] for name in ("state", "ahead", "is_rated", "draw", "pending")} | {
        "plies": len(game["moves"])
    }
    if body["draw"] and body["draw"].get("why"):
        body["draw"]["why"] = language.translated(body["draw"]["why"])
    response = web.json_response(body, dumps=as_json)
    response.headers["Cache-Control"] = "no-store"
    return response


@routes.post("/play/{game}")
async def decide(request: web.Request) -> web.Response:
    """Handle the form of the board: move, accept a draw, resign, take back."""
    name = request.match_info["game"]
    try:
        await _decide(request)
    except ArenaError as error:
        if error.status >= 500:
            raise
        raise Problem(error.kind, error_sentence(error)) from None
    return redirect(f"/play/{name}")


@routes.post("/play/{game}/decide.json")
async def decide_json(request: web.Request) -> web.Response:
    """Handle the actions of the form when the page's script sends them."""
    await _decide(request)
    return web.json_response({}, headers={"Cache-Control": "no-store"})


async def _decide(request: web.Request) -> None:
    name = request.match_info["game"]
    if not GAME_ID.fullmatch(name):
        raise not_found("game", name)
    fields = await read_form(request)
    _require_own_page(request)
    wish = read_fields(
        DecisionRequest,
        do=fields.get("do", "move"),
        ply=fields.get("ply") or None,
        move=fields.get("move", "")[:100],
        draw=fields.get("draw") == "yes",
    )
    await run_use_case(services.people_game.decide, arena_of(request), name, wish, await visitor_of(request))


@routes.post("/bots/{bot}/people")
async def allow(request: web.Request) -> web.Response:
    """Allow or forbid people to play against the user's bot."""
    fields = await checked_form(request)
    name = request.match_info["bot"]
    allowed = fields.get("allowed") == "yes"
    await run_use_case(services.bot.allow_people, arena_of(request), name, allowed, request[IDENTITY])
    return redirect(f"/bots/{name}")
