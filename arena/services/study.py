"""A line that somebody tries out on a board: from a start of a family, or a position, by moves in any spelling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from arena.store import BadValueError
from referee.rules import load
from referee.rules.core import Outcome, ParseError, Side, UnknownNameError
from referee.rules.move_input import LegalMove, legal_moves
from referee.rules.position import IllegalMoveError, Position
from referee.rules.position_setup import PositionSetupError, compose
from referee.rules.rules import Ruleset

MOST_MOVES = 1000
"""Moves of a line that is given by its moves."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What may be played in a position: none of `moves` where the game is over, which `outcome` says."""

    position: str
    side: Side
    moves: tuple[LegalMove, ...]
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Study:
    """A line: its rules, the position string it starts from, and its moves in canonical text. `end` knows them all."""

    ruleset: Ruleset
    start: str
    moves: tuple[str, ...]
    end: Position


@lru_cache(maxsize=500)
def choice(family: str, variant: str = "", options: str = "", position: str = "", moves: str = "") -> Choice:
    """What may be played behind `moves`, separated by blanks. Raises BadValueError as `settle` and `read` do."""
    end = read(settle(family, variant, options), position, moves.split()).end
    return Choice(str(end), end.side, tuple(legal_moves(end)), end.outcome)


def settle(family: str, variant: str, options: str) -> Ruleset:
    """The rules that are asked for; `options` are `name=value`, separated by commas. Raises BadValueError."""
    pairs = [part.partition("=") for part in options.split(",") if part.strip()]
    given = {name.strip(): value for name, _, value in pairs}
    try:
        return load(family).settle(variant or None, given)
    except (UnknownNameError, ParseError) as error:
        field = "options" if isinstance(error, UnknownNameError) and not error.what.startswith("variant") else "variant"
        raise BadValueError(str(error), field=field) from None


def read(ruleset: Ruleset, position: str, moves: Sequence[str]) -> Study:
    """The line of `moves` from a position string, or from the variant's start without one.

    Raises BadValueError that names the field, and of moves the number of the first that cannot be played.
    """
    try:
        at = Position.start(ruleset, position or None)
    except ParseError as error:
        raise BadValueError(error.problem, field="position", hint=error.hint) from None
    if len(moves) > MOST_MOVES:
        raise BadValueError(f"{len(moves)} moves", field="moves", hint=f"a line has {MOST_MOVES} at most")
    start = str(at)
    for number, text in enumerate(moves, 1):
        try:
            at = at.play(text)
        except ParseError as error:
            raise BadValueError(
                f"move {number}: {error.problem}: {text[:40]!r}", field="moves", hint=error.hint
            ) from None
        except IllegalMoveError:
            problem = f"move {number} is not legal there: {text[:40]!r}"
            raise BadValueError(problem, field="moves", hint=_near(at)) from None
    return Study(ruleset, start, _texts(at), at)


def set_up(ruleset: Ruleset, pieces: str, side: Side) -> Study:
    """The position with `pieces` on cells, `a1=b` with commas between them. Raises BadValueError with the reason."""
    pairs = [part.partition("=") for part in pieces.split(",") if part]
    try:
        text = compose(ruleset, {cell: held for cell, _, held in pairs if held}, side)
    except PositionSetupError as error:
        raise BadValueError(str(error), field="pieces") from None
    return read(ruleset, text, ())


def _near(at: Position) -> str:
    """What may be played instead."""
    known = at.texts
    return f"legal are {', '.join(known[:8])}{' …' if len(known) > 8 else ''}" if known else "the game is over there"


def _texts(end: Position) -> tuple[str, ...]:
    """The moves of a line in canonical text."""
    write, found = end.ruleset.rules.notation.write_move, []
    at: Position | None = end
    while at is not None and at.move is not None:
        found.append(write(at.move))
        at = at.previous
    return tuple(reversed(found))
