"""Lines of moves to try out on a board, in any notation, from the start of a variant or a given position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from arena.errors import BadValueError
from referee.rules import load
from referee.rules.core import Outcome, ParseError, Side, UnknownNameError, value_text
from referee.rules.move_input import LegalMove, legal_moves
from referee.rules.position import IllegalMoveError, Position
from referee.rules.position_setup import PositionSetupError, compose
from referee.rules.rules import Ruleset

MAX_MOVES = 1000
"""Maximum number of moves in a line."""


@dataclass(frozen=True, slots=True)
class MoveChoices:
    """The legal moves of a position. If the game is over there are none, and `outcome` is set."""

    position: str
    side: Side
    moves: tuple[LegalMove, ...]
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Study:
    """A line: its rules, the position string of its start, its moves in canonical notation, and the final position."""

    ruleset: Ruleset
    start: str
    moves: tuple[str, ...]
    end: Position


@lru_cache(maxsize=500)
def choice(family: str, variant: str = "", options: str = "", position: str = "", moves: str = "") -> MoveChoices:
    """Return the legal moves after `moves` (separated by blanks). Raises BadValueError like `settle` and `read`."""
    end = read(settle(family, variant, options), position, moves.split()).end
    return MoveChoices(str(end), end.side, tuple(legal_moves(end)), end.outcome)


def settle(family: str, variant: str, options: str) -> Ruleset:
    """Return the requested rules; `options` are `name=value`, separated by commas. Raises BadValueError."""
    pairs = [part.partition("=") for part in options.split(",") if part.strip()]
    given = {name.strip(): value for name, _, value in pairs}
    try:
        return load(family).settle(variant or None, given)
    except (UnknownNameError, ParseError) as error:
        field = "options" if isinstance(error, UnknownNameError) and not error.what.startswith("variant") else "variant"
        raise BadValueError(str(error), field=field) from None


def options_text(ruleset: Ruleset) -> str:
    """Return the options that differ from those of the variant, in the form that `settle` reads."""
    return ",".join(f"{name}={value_text(value)}" for name, value in ruleset.overrides.items())


def read(ruleset: Ruleset, position: str, moves: Sequence[str]) -> Study:
    """Play `moves` from a position string, by default from the variant's start.

    Raises BadValueError that names the field and, for moves, the number of the first illegal one.
    """
    try:
        at = Position.start(ruleset, position or None)
    except ParseError as error:
        raise BadValueError(error.problem, field="position", hint=error.hint) from None
    if len(moves) > MAX_MOVES:
        raise BadValueError(f"too many moves: {len(moves)}", field="moves", hint=f"at most {MAX_MOVES} are allowed")
    start = str(at)
    for number, text in enumerate(moves, 1):
        try:
            at = at.play(text)
        except ParseError as error:
            raise BadValueError(
                f"move {number}: {error.problem}: {text[:40]!r}", field="moves", hint=error.hint
            ) from None
        except IllegalMoveError:
            raise BadValueError(f"move {number} is illegal: {text[:40]!r}", field="moves", hint=_near(at)) from None
    return Study(ruleset, start, _texts(at), at)


def set_up(ruleset: Ruleset, pieces: str, side: Side) -> Study:
    """Return the position with these `pieces`, such as `a1=b,c3=w`. Raises BadValueError with the reason."""
    pairs = [part.partition("=") for part in pieces.split(",") if part]
    try:
        text = compose(ruleset, {cell: held for cell, _, held in pairs if held}, side)
    except PositionSetupError as error:
        raise BadValueError(str(error), field="pieces") from None
    return read(ruleset, text, ())


def _near(at: Position) -> str:
    """Return a hint that lists legal moves."""
    known = at.texts
    return f"legal moves: {', '.join(known[:8])}{' …' if len(known) > 8 else ''}" if known else "the game is over"


def _texts(end: Position) -> tuple[str, ...]:
    """Return the moves of a line in canonical notation."""
    write, found = end.ruleset.rules.notation.write_move, []
    at: Position | None = end
    while at is not None and at.move is not None:
        found.append(write(at.move))
        at = at.previous
    return tuple(reversed(found))
