"""Parses and writes the texts of positions and moves."""

from __future__ import annotations

import re

import numpy as np

from referee.rules.core import ParseError
from referee.rules.rules import Config, Notation, State

from .state import STATE_SIZE, TURN
from .tables import NAMES, NUMBERS

LETTERS = ".wb"
"""Contents of a square."""


def read_position(text: str, config: Config) -> State:
    """Return the state of `<board> <w|b>`: ranks from the top, numbers for empty squares. Raise ParseError."""
    match = re.fullmatch(r"([wb1-3]+)/([wb1-3]+)/([wb1-3]+) ([wb])", text)
    if not match:
        raise ParseError("not a position", text=text, hint="write three ranks and the side to move: bbb/3/www w")
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    for rank, content in zip((2, 1, 0), match.groups(), strict=False):
        cells = re.sub(r"[1-3]", lambda run: "." * int(run[0]), content)
        if len(cells) != 3 or re.search(r"\d\d", content):
            raise ParseError(
                f"rank {rank + 1} is invalid", text=text, hint="write three squares: w, b, digits for empty ones"
            )
        state[3 * rank : 3 * rank + 3] = [LETTERS.index(cell) for cell in cells]
    state[TURN] = "wb".index(match[4])
    return state


def write_position(state: State, config: Config) -> str:
    """Return the canonical text of a position."""
    rows = ("".join(LETTERS[int(cell)] for cell in state[3 * rank : 3 * rank + 3]) for rank in (2, 1, 0))
    board = "/".join(re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in rows)
    return f"{board} {'wb'[int(state[TURN])]}"


def read_move(text: str, state: State, config: Config) -> int:
    """Return the code of `a1a2`, also of `a1-a2` and `a1xb2`. Raise ParseError."""
    found = re.fullmatch(r"([a-c][1-3])[-x]?([a-c][1-3])", text)
    if not found:
        raise ParseError("not a move", text=text, hint="write source and target, as a1a2")
    return NUMBERS[found[1]] * 9 + NUMBERS[found[2]]


def write_move(code: int) -> str:
    """Return the canonical text of a move."""
    return NAMES[code // 9] + NAMES[code % 9]


def display_move(code: int, state: State, config: Config) -> str:
    """Return the move as people write it: `a1-a2`, `a1xb2`."""
    return f"{NAMES[code // 9]}{'x' if state[code % 9] else '-'}{NAMES[code % 9]}"


NOTATION = Notation(read_position, write_position, read_move, write_move, display_move)
