"""Position and move texts of hexapawn."""

from __future__ import annotations

import re

import numpy as np

from referee.rules.core import ParseError
from referee.rules.rules import Config, Notation, State

from .state import GIFT, GIVEN, GIVING, PASS, STATE_SIZE, TURN, WIDTH
from .tables import NAMES, NUMBERS

LETTERS = ".wbWB"
"""Contents of a square; capitals are towers."""

_MOVE = re.compile(r"([a-d][1-3])[-x]?([a-d][1-3])")
_GIFT = re.compile(r"-([a-d][1-3])")


def read_position(text: str, config: Config) -> State:
    """Return the state of `<board> <w|b>`: ranks from the top, and `gift` in the gift phase. Raise ParseError."""
    width = int(config[WIDTH])
    match = re.fullmatch(r"([^ ]+) ([wb])( gift)?", text)
    ranks = match[1].split("/") if match else []
    if not match or len(ranks) != 3:
        raise ParseError("not a position", text=text, hint="write three ranks and the side to move: bbb/3/www w")
    if match[3] and not config[GIFT]:
        raise ParseError("no gifts in this game", text=text, index=match.start(3), hint="leave the word out")
    state, index = np.zeros(STATE_SIZE, dtype=np.int64), 0
    for rank, content in zip((2, 1, 0), ranks, strict=True):
        cells = re.sub(r"[1-4]", lambda run: "." * int(run[0]), content)
        if len(cells) != width or set(cells) - set(LETTERS) or re.search(r"\d\d", content):
            hint = f"{width} squares of w, b, W, B, runs"
            raise ParseError(f"rank {rank + 1} is wrong", text=text, index=index, hint=hint)
        for file, cell in enumerate(cells):
            state[4 * rank + file] = LETTERS.index(cell)
        index += len(content) + 1
    state[TURN] = "wb".index(match[2]) + (GIVING if match[3] else 0)
    return state


def write_position(state: State, config: Config) -> str:
    """Return the canonical position string."""
    width = int(config[WIDTH])
    rows = ("".join(LETTERS[int(state[4 * rank + file])] for file in range(width)) for rank in (2, 1, 0))
    board = "/".join(re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in rows)
    return f"{board} {'wb'[int(state[TURN]) & 1]}" + (" gift" if state[TURN] & GIVING else "")


def read_move(text: str, state: State, config: Config) -> int:
    """Return the code of `a1a2`, `a1-a2`, `a1xb2`, `-a1` for a gift, or `pass`. Raise ParseError."""
    text = text.lower()
    if text == "pass":
        return PASS
    if gift := _GIFT.fullmatch(text):
        return GIVEN + NUMBERS[gift[1]]
    match = _MOVE.fullmatch(text)
    if not match:
        raise ParseError("not a move", text=text, hint="write source and target, as a1a2, or pass")
    return NUMBERS[match[1]] * 16 + NUMBERS[match[2]]


def write_move(code: int) -> str:
    """Return the canonical text of a code."""
    if code >= GIVEN:
        return f"-{NAMES[code - GIVEN]}"
    return "pass" if code == PASS else NAMES[code // 16] + NAMES[code % 16]


def display_move(code: int, state: State, config: Config) -> str:
    """Return the move as people write it: `a1-a2`, `a1xb2`, `-a1`, `pass`."""
    if code >= PASS:
        return write_move(code)
    own = int(state[code // 16]) & 1
    held = int(state[code % 16])
    return f"{NAMES[code // 16]}{'x' if held and held & 1 != own else '-'}{NAMES[code % 16]}"


NOTATION = Notation(read_position, write_position, read_move, write_move, display_move, pass_move=PASS)
