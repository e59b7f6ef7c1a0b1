"""The ending of a game: by the rules, by adjudication, or by a failure or resignation of a bot."""

from __future__ import annotations

from dataclasses import dataclass

from referee.bot.seat import Seat
from referee.game.failure import BotError
from referee.game.history import GameHistory
from referee.rules.core import SIDES, Outcome, Termination, Winner


@dataclass(frozen=True, slots=True)
class Ending:
    """The winner (None: the game is void), the reason, and one sentence of evidence.

    `at_start`: the game ended before play because a bot did not get ready.
    """

    winner: Winner | None
    termination: Termination
    detail: str = ""
    at_start: bool = False


def by_outcome(outcome: Outcome) -> Ending:
    """Return the ending for an outcome by the rules or by adjudication."""
    return Ending(outcome.winner, outcome.reason)


def by_resignation(history: GameHistory, side: int) -> Ending:
    """Return the ending of a game in which `side` (0 first, 1 second) resigned."""
    return Ending(SIDES[1 - side], Termination.RESIGNED, f"{SIDES[side]} resigned at ply {len(history.moves) + 1}")


def by_failure(history: GameHistory, side: int, bot: Seat, error: BotError) -> Ending:
    """Return the ending of a game in which the bot of `side` failed; its process will play no other game."""
    bot.condemn()
    detail = f"{SIDES[side]} ({bot.spec.name}) lost at ply {len(history.moves) + 1}: {error.detail}"
    return Ending(SIDES[1 - side], error.termination, detail)


def by_illegal_move(history: GameHistory, side: int, bot: Seat, text: str | None) -> Ending:
    """Return the ending of a game in which the bot of `side` answered with an illegal move."""
    shown = "no move" if text is None else repr(text[:80])
    return by_failure(history, side, bot, BotError(Termination.ILLEGAL_MOVE, f"{shown} in {history.position}"))
