"""Formats a position for a terminal: the board, in colour if possible, the side to move, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from arena.cli.terminal import output
from referee.rules.text_board import Word, draw

if TYPE_CHECKING:
    from referee.rules.core import Outcome
    from referee.rules.position import Position
    from referee.rules.rules import Ruleset

_STYLES: Mapping[Word, tuple[output.Style, ...]] = {
    "first": ("bold", "yellow"),
    "second": ("bold", "cyan"),
    "neutral": ("bold", "magenta"),
    "cell": ("dim",),
    "label": ("dim",),
    "note": (),
}


def drawing(position: Position) -> str:
    """Draw the board as text for stdout."""
    return draw(
        position.board,
        position.ruleset.rules.pieces,
        lambda words, word: output.styled(words, *_STYLES[word]),
    )


def result_json(outcome: Outcome | None) -> dict[str, Any] | None:
    """Return an outcome as JSON data; None while the game is running."""
    return {"winner": outcome.winner, "reason": outcome.reason.value} if outcome else None


def side_name(ruleset: Ruleset, side: str) -> str:
    """Format a side: `second (White)`."""
    return f"{side} ({ruleset.sides[0 if side == 'first' else 1]})"


def played(position: Position) -> str:
    """Describe the move that led to a position, with its effects; empty at the start."""
    before, move = position.previous, position.move
    if before is None or move is None:
        return ""
    said = [before.display(move), before.explain(move), position.announced]
    return ", ".join(part for part in said if part)


def status(position: Position) -> str:
    """Describe the side to move, or the result, in one line."""
    ruleset, outcome = position.ruleset, position.outcome
    if outcome is None:
        return f"{side_name(ruleset, position.side)} to move"
    if outcome.winner == "draw":
        return f"draw by {outcome.reason}"
    return f"{side_name(ruleset, outcome.winner)} wins by {outcome.reason}"
