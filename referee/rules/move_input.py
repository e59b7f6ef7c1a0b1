"""Moves as people make them on a board: by picking one cell after another.

A way to enter a move is the cells to pick, in order. A family says its own by `Rules.move_input`; for others it is the
cells that the canonical text names. Refuses to know screens.
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
"""The cells to pick for a move; none for a pass."""


@dataclass(frozen=True, slots=True)
class LegalMove:
    """A legal move: in canonical text and as people write it, the ways to enter it, and what it does, in words.

    `ways` may be those of another move too: who enters it is asked which one is meant. `effect` may be empty.
    """

    move: str
    shown: str
    ways: tuple[Way, ...]
    effect: str


@lru_cache(maxsize=64)
def _pattern(cells: tuple[Cell, ...]) -> re.Pattern[str]:
    return re.compile("|".join(sorted((re.escape(cell.name) for cell in cells), key=len, reverse=True)))


def cells_named(text: str, board: Board) -> Way:
    """The cells that a text names, in order."""
    return tuple(_pattern(board.cells).findall(text))


def ways_of(position: Position, code: int, board: Board) -> tuple[Way, ...]:
    """The ways to enter a legal move in a position that looks like `board`."""
    rules = position.ruleset.rules
    if rules.move_input:
        return rules.move_input(code, position.state)
    return (cells_named(rules.notation.write_move(code), board),)


def legal_moves(position: Position) -> list[LegalMove]:
    """The legal moves of a position, in the order of their canonical texts."""
    ruleset, rules, board = position.ruleset, position.ruleset.rules, position.board
    found, after = [], np.empty_like(position.state)
    for code in position.moves:
        effect = ""
        if rules.effect:
            rules.kernel.play(position.state, ruleset.config, code, after)
            effect = rules.effect(code, position.state, after, ruleset.config).said
        text, ways = rules.notation.write_move(code), ways_of(position, code, board)
        found.append(LegalMove(text, position.display(code), ways, effect or position.explain(code)))
    return sorted(found, key=lambda one: one.move)
