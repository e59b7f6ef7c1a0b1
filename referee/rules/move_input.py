"""Moves entered on a board by picking one cell after another.

A family defines the cell sequences of a move in `Rules.move_input`. The default is the cells that the canonical text
names, in order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from referee.rules.position import Position
from referee.rules.rules import Board, Cell

Way: TypeAlias = tuple[str, ...]
"""The cells to pick for a move, in order; empty for a pass."""


@dataclass(frozen=True, slots=True)
class LegalMove:
    """A legal move: its canonical text, its text for people, the cell sequences that enter it, and its side effects as
    text.

    Several moves may share a sequence; the page then asks which one is meant. `effect` may be empty.
    """

    move: str
    shown: str
    ways: tuple[Way, ...]
    effect: str


@lru_cache(maxsize=64)
def _pattern(cells: tuple[Cell, ...]) -> re.Pattern[str]:
    return re.compile("|".join(sorted((re.escape(cell.name) for cell in cells), key=len, reverse=True)))


def cells_named(text: str, board: Board) -> Way:
    """Return the cells that a text names, in order."""
    return tuple(_pattern(board.cells).findall(text))


def ways_of(position: Position, code: int, board: Board) -> tuple[Way, ...]:
    """Return the cell sequences that enter a legal move in a position drawn as `board`."""
    rules = position.ruleset.rules
    if rules.move_input:
        return rules.move_input(code, position.state)
    return (cells_named(rules.notation.write_move(code), board),)


def legal_moves(position: Position) -> list[LegalMove]:
    """Return the legal moves of a position, in the order of their canonical texts."""
    ruleset, rules, board = position.ruleset, position.ruleset.rules, position.board
    moves, after = [], np.empty_like(position.state)
    for code in position.moves:
        effect = ""
        if rules.effect:
            rules.kernel.play(position.state, ruleset.config, code, after)
            effect = rules.effect(code, position.state, after, ruleset.config).description
        text, ways = rules.notation.write_move(code), ways_of(position, code, board)
        moves.append(LegalMove(text, position.display(code), ways, effect or position.explain(code)))
    return sorted(moves, key=lambda move: move.move)


def refusal(position: Position, code: int) -> str:
    """Return why a well-formed move is not legal in a position, in the words of players; empty if that is not known."""
    ruleset, rules, board = position.ruleset, position.ruleset.rules, position.board
    if not position.moves:
        return "the game is over"
    cells = cells_named(rules.notation.write_move(code), board)
    if not cells:
        return "you can move, so you may not pass" if code == rules.notation.pass_move else ""
    held = board.pieces.get(cells[0])
    if not held:
        return f"{cells[0]} is empty"
    if ruleset.owner(held[-1]) not in (position.side, None):
        return f"the piece on {cells[0]} is not yours"
    return rules.refuse(code, position.state, ruleset.config) if rules.refuse else ""
