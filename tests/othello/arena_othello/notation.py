"""Position and move texts, read and written."""

from __future__ import annotations

import re

import numpy as np

from referee.rules.core import ParseError
from referee.rules.rules import Config, Notation, State

from .state import PASS, STATE_SIZE, TURN
from .tables import NAMES, NUMBERS

LETTERS = ".bw"
"""Contents of a square."""


def read_position(text: str, config: Config) -> State:
    """Return the state of `<board> <b|w>`: rows from the top, numbers for empty squares. Raise ParseError."""
    match = re.fullmatch(r"([bw1-8]+(?:/[bw1-8]+){7}) ([bw])", text)
    if not match:
        raise ParseError("not a position", text=text, hint="write eight rows and the side to move, b or w")
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    for row, content in enumerate(match[1].split("/")):
        cells = re.sub(r"[1-8]", lambda run: "." * int(run[0]), content)
        if len(cells) != 8 or re.search(r"\d\d", content):
            raise ParseError(f"row {row + 1} is wrong", text=text, hint="eight squares of b, w and runs of empty ones")
        state[8 * row : 8 * row + 8] = [LETTERS.index(cell) for cell in cells]
    state[TURN] = "bw".index(match[2])
    return state


def write_position(state: State, config: Config) -> str:
    """Return the canonical position string."""
    rows = ("".join(LETTERS[int(cell)] for cell in state[8 * row : 8 * row + 8]) for row in range(8))
    board = "/".join(re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in rows)
    return f"{board} {'bw'[int(state[TURN])]}"


def read_move(text: str, state: State, config: Config) -> int:
    """Return the code of `d3` in either case, or of `pass`. Raise ParseError."""
    if text == "pass":
        return PASS
    found = NUMBERS.get(text.lower())
    if found is None:
        raise ParseError("not a move", text=text, hint="write a square, as d3, or pass")
    return found


def write_move(code: int) -> str:
    """Return the canonical text of a move."""
    return "pass" if code == PASS else NAMES[code]


def display_move(code: int, state: State, config: Config) -> str:
    """Return the move as people write it."""
    return write_move(code)


NOTATION = Notation(read_position, write_position, read_move, write_move, display_move, pass_move=PASS)
