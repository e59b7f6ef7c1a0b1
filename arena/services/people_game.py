"""A person's game against a bot: the player's view of it, moves, draw offers, resigning and taking back."""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

from arena.clock import now
from arena.documents.family import OutcomeResponse
from arena.documents.human_game import (
    DecisionRequest,
    DrawOfferResponse,
    HumanGame,
    OpenGameItem,
    OpenState,
    PlayResponse,
)
from arena.errors import ConflictError, ForbiddenError, NotFoundError
from arena.events.messages import HumanActed
from arena.services import study
from arena.services.arena import Arena
from arena.services.people import Visitor
from arena.services.study import Study
from arena.store.tournaments.human_games import MAX_TAKEN_BACK
from arena.store.tournaments.stored_ply import is_draw_offered, last_own_ply, offers_draw, read_ply
from referee.game.adjudication import LEVEL, LEVEL_FROM_PLY, takes_draw
from referee.game.spec import NO_CLOCK, GameSpec
from referee.rules import load

PRESENCE_INTERVAL = timedelta(seconds=15)
"""How often the presence of a player is noted."""


def games_of(arena: Arena, by: Visitor) -> list[OpenGameItem]:
    """Return the visitor's games that are not over."""
    games = arena.store.people.open(**by.owner_filter) if by.user or by.cookie else []
    return [
        OpenGameItem(
            id=game.id,
            state=cast(OpenState, game.state),
            side=game.side,
            plies=len(game.plies),
            is_rated=game.is_rated,
            created_at=game.created_at,
        )
        for game in games
    ]


def waiting(arena: Arena, game_id: str) -> int:
    """Return how many games of people are played or wait before this one."""
    ids = list(arena.store.people.asked())
    return ids.index(game_id) if game_id in ids else 0


def draw_offer(game: HumanGame) -> DrawOfferResponse | None:
    """Return the current draw offer, which lasts until the person's next move; None without one."""
    if is_draw_offered(game.plies, game.side):
        return DrawOfferResponse("offered")
    last = last_own_ply(game.plies, game.side)
    if last is None or not offers_draw(game.plies[last]):
        return None
    if last + 1 == len(game.plies):
        return DrawOfferResponse("waiting")
    _, answer = read_ply(game.plies[last + 1])
    return DrawOfferResponse("declined", _why_declined(answer.score, last + 2))


def _why_declined(score: int | None, ply: int) -> str:
    if score is None:
        return _NO_SCORES
    if ply < LEVEL_FROM_PLY:
        return _EARLY.format(LEVEL_FROM_PLY)
    if takes_draw(score, ply):
        return _INTERRUPTED
    return _UNEVEN.format(f"{score / 100:+.2f}", f"{LEVEL / 100:g}")


_NO_SCORES = "the bot reports no scores"
_EARLY = "draws are accepted from ply {} on"
_INTERRUPTED = "the game was interrupted after your offer: offer it again"
_UNEVEN = "the bot's score is {}: it accepts a draw within {} of 0"
REASONS = (_NO_SCORES, _EARLY, _INTERRUPTED, _UNEVEN)
"""Why a bot declines a draw; `{}` stands for a value."""


def follows(arena: Arena, game_id: str, by: Visitor) -> bool:
    """Return whether the visitor plays an open game, and note that their page follows its stream."""
    if by.user is None and not by.cookie:
        return False
    try:
        game = arena.store.people.get(game_id)
    except NotFoundError:
        return False
    if game.is_over or not by.plays(game):
        return False
    arena.store.people.see(game_id, is_stream=True)
    return True


def see(arena: Arena, game_id: str, by: Visitor) -> PlayResponse:
    """Return one of the visitor's own games. Raises NotFoundError, ForbiddenError."""
    game, item, spec = _own_game(arena, game_id, by), arena.store.games.get(game_id), arena.store.games.spec(game_id)
    if not game.is_over and now() - game.seen_at > PRESENCE_INTERVAL:
        arena.store.people.see(game_id)
    played = _played(game, spec)
    outcome = OutcomeResponse(item.winner, item.termination) if item.winner and item.termination else None
    return PlayResponse(
        id=item.id,
        family=item.family,
        variant=item.variant,
        first=item.first,
        second=item.second,
        side=game.side,
        state=item.state,
        is_rated=item.is_rated,
        ahead=waiting(arena, game_id) if game.state == "planned" else 0,
        start=played.start,
        moves=played.moves,
        position=str(played.end),
        to_move=None if played.end.outcome or outcome else played.end.side,
        time=str((spec.first if game.side == "first" else spec.second).time or NO_CLOCK),
        pending=_pending(game),
        draw=draw_offer(game),
        outcome=outcome,
    )


def _pending(game: HumanGame) -> str:
    """Return the person's move that is stored for the present position; empty if there is none."""
    asked = game.asked or {}
    return str(asked["move"]) if asked.get("do") == "move" and asked.get("ply") == len(game.plies) else ""


def _own_game(arena: Arena, game_id: str, by: Visitor) -> HumanGame:
    game = arena.store.people.get(game_id)
    if not by.plays(game):
        raise ForbiddenError("this is another person's game")
    return game


def _played(game: HumanGame, spec: GameSpec) -> Study:
    ruleset = load(spec.family).settle(spec.variant, spec.options)
    return study.read(ruleset, spec.position or "", [read_ply(kept)[0] for kept in game.plies])


def decide(arena: Arena, game_id: str, action: DecisionRequest, by: Visitor) -> None:
    """Store an action for the referee, which applies it at once.

    Raises NotFoundError, ForbiddenError, ConflictError, BadValueError.
    """
    game = _own_game(arena, game_id, by)
    if action.ply is None:
        action = replace(action, ply=len(game.plies))
    if game.is_over:
        raise ConflictError("the game is over", game.state)
    # Resigning is about the game. Everything else is about the position: a second click on "Take back" arrives after
    # the first one has changed it.
    if action.do != "resign" and action.ply != len(game.plies):
        raise ConflictError("the position has changed; look at the board again", game.state)
    asked: dict[str, Any] = {"do": action.do, "ply": len(game.plies), "mark": secrets.token_hex(4)}
    if action.do == "move":
        asked |= {"move": _move(arena, game, action), "draw": action.draw}
    elif action.do == "back":
        _require_back(game)
    elif action.do == "draw":
        _require_offer(game)
    arena.store.people.ask(game_id, asked)
    arena.bus.publish(HumanActed(game=game_id))


def _move(arena: Arena, game: HumanGame, action: DecisionRequest) -> str:
    """Return the move in canonical notation if it is legal now."""
    played = _played(game, arena.store.games.spec(game.id))
    if played.end.outcome is not None or played.end.side != game.side:
        raise ConflictError("it is not your turn", "running")
    return study.read(played.ruleset, played.start, [*played.moves, action.move.strip()]).moves[-1]


def _require_offer(game: HumanGame) -> None:
    offer = draw_offer(game)
    if offer is None or offer.state != "offered":
        raise ConflictError("the bot does not offer a draw now; offer one with your move", game.state)


def _require_back(game: HumanGame) -> None:
    if last_own_ply(game.plies, game.side) is None:
        raise ConflictError("you have not moved yet", game.state)
    if game.attempt > MAX_TAKEN_BACK:
        raise ConflictError(f"at most {MAX_TAKEN_BACK} moves may be taken back in a game", game.state)
