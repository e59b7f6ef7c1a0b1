"""How a game ended: by the rules, by agreement of the bots' own scores, or by what a bot did or failed to do."""

from __future__ import annotations

from dataclasses import dataclass

from referee.bot.seat import Seat
from referee.game.failure import BotError
from referee.game.history import Course
from referee.rules.core import SIDES, Outcome, Termination, Winner


@dataclass(frozen=True, slots=True)
class Ending:
    """Who won (None: the game is void), why, and one sentence with the evidence where there is more to say.

    `at_start`: it ended before play, as a bot did not get ready.
    """

    winner: Winner | None
    termination: Termination
    detail: str = ""
    at_start: bool = False


def by_outcome(outcome: Outcome) -> Ending:
    """The end by the rules or by adjudication."""
    return Ending(outcome.winner, outcome.reason)


def by_resignation(course: Course, side: int) -> Ending:
    """The bot of that side (0 first, 1 second) gave up."""
    return Ending(SIDES[1 - side], Termination.RESIGNED, f"{SIDES[side]} resigned at ply {len(course.moves) + 1}")


def by_failure(course: Course, side: int, bot: Seat, error: BotError) -> Ending:
    """The bot of that side failed; its process plays no other game."""
    bot.condemn()
    detail = f"{SIDES[side]} ({bot.spec.name}) lost at ply {len(course.moves) + 1}: {error.detail}"
    return Ending(SIDES[1 - side], error.termination, detail)


def by_illegal_move(course: Course, side: int, bot: Seat, text: str | None) -> Ending:
    """The bot of that side answered with what is no legal move."""
    shown = "no move" if text is None else repr(text[:80])
    return by_failure(course, side, bot, BotError(Termination.ILLEGAL_MOVE, f"{shown} in {course.position}"))
