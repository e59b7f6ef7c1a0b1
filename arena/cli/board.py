"""A position on a terminal: the board in colour where there is colour, whose turn it is, the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from arena.cli import output
from referee.rules.draw import Word, draw

if TYPE_CHECKING:
    from referee.rules.core import Outcome
    from referee.rules.position import Position
    from referee.rules.rules import Rules

_STYLES: Mapping[Word, tuple[output.Style, ...]] = {
    "first": ("bold", "yellow"),
    "second": ("bold", "cyan"),
    "neutral": ("bold", "magenta"),
    "cell": ("dim",),
    "label": ("dim",),
    "note": (),
}


def drawing(position: Position) -> str:
    """The board as text for stdout."""
    return draw(
        position.board,
        position.ruleset.rules.pieces,
        lambda words, word: output.styled(words, *_STYLES[word]),
    )


def result_json(outcome: Outcome | None) -> dict[str, Any] | None:
    """An outcome as JSON; None while the game goes on."""
    return {"winner": outcome.winner, "reason": outcome.reason.value} if outcome else None


def side_name(rules: Rules, side: str) -> str:
    """`second (White)`."""
    return f"{side} ({rules.sides[0 if side == 'first' else 1]})"


def status(position: Position) -> str:
    """Who is to move, or how the game ended, in one line."""
    rules, outcome = position.ruleset.rules, position.outcome
    if outcome is None:
        return f"{side_name(rules, position.side)} to move"
    if outcome.winner == "draw":
        return f"draw by {outcome.reason}"
    return f"{side_name(rules, outcome.winner)} wins by {outcome.reason}"
