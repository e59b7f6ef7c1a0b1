"""Position strings and move texts of Abalone (Aba-Pro coordinates): readers, writers, and move texts for people.

RULES.md describes them in the sections "Position text" and "Notation".
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import numpy as np

from referee.rules.abalone.state import (
    BLACK,
    BY_BLACK,
    BY_WHITE,
    MARK_EJECTIONS,
    NUMBER,
    QUIET,
    SHOW_SCORE,
    SIDE,
    STATE_SIZE,
    WHITE,
    follow,
)
from referee.rules.abalone.tables import CELLS, DELTAS, MOVE_CODES, MOVE_TEXTS, NAMES, PLACES, ROWS, is_cell, number
from referee.rules.core import ParseError
from referee.rules.rules import Config, Notation, State

LENGTHS: Final = (5, 6, 7, 8, 9, 8, 7, 6, 5)
"""Number of cells in the rows i to a."""
EXAMPLE: Final = "sssss/ssssss/2sss2/8/9/8/2SSS2/SSSSSS/SSSSS 0 0 b 0 1"
FIELDS: Final = (
    ("marbles ejected by Black", 0, 61),
    ("marbles ejected by White", 0, 61),
    ("side to move", 0, 0),
    ("plies since the last ejection", 0, 999_999_999),
    ("full moves", 1, 999_999_999),
)
"""The fields after the board, with their smallest and largest number."""
MOVE_HINT: Final = "write an inline move as e5e6, a broadside as e6e8f6"

_FIELD = re.compile(r"[^ \t\r\n]+")
_NUMBER = re.compile(r"[0-9]{1,9}")
_BLANKS = " \t"
_SCORE = re.compile(r"(?<=[ \t])[0-9]{1,2}-[0-9]{1,2}$")


def read_position(text: str, config: Config) -> State:
    """Return the state of `<board> <ejected by Black> <by White> <b|w> <plies since an ejection> <move number>`.

    Fields at the end are optional (`0 0 b 0 1`). Raise ParseError.
    """
    fields = [(match.group(), match.start()) for match in _FIELD.finditer(text)]
    if not fields:
        raise ParseError("the position is empty", text=text, hint=f"write for example {EXAMPLE}")
    if len(fields) > 6:
        raise ParseError("more than six fields", text=text, index=fields[6][1], hint=f"write for example {EXAMPLE}")
    state = np.zeros(STATE_SIZE, dtype=np.int64)
    state[BLACK], state[WHITE] = _read_board(*fields[0], text)
    state[NUMBER] = 1
    places = (BY_BLACK, BY_WHITE, SIDE, QUIET, NUMBER)
    for place, limits, (field, index) in zip(places, FIELDS, fields[1:], strict=False):
        state[place] = _read_side(field, index, text) if place == SIDE else _read_number(field, index, text, limits)
    return state


def _read_side(field: str, index: int, text: str) -> int:
    if field not in ("b", "w"):
        raise ParseError(f"invalid side to move {field[:20]!r}", text=text, index=index, hint="b = Black, w = White")
    return int(field == "w")


def _read_number(field: str, index: int, text: str, limits: tuple[str, int, int]) -> int:
    what, minimum, maximum = limits
    value = int(field) if _NUMBER.fullmatch(field) else -1
    if not minimum <= value <= maximum:
        hint = f"{minimum}..{maximum}"
        raise ParseError(f"invalid number of {what} {field[:20]!r}", text=text, index=index, hint=hint)
    return value


_SHAPE = "rows i to a have 5 6 7 8 9 8 7 6 5 cells"


def _read_board(field: str, start: int, text: str) -> tuple[int, int]:
    boards = {"S": 0, "s": 0}
    row, filled, after_digit = 0, 0, False
    for index, symbol in enumerate(field, start):
        name = ROWS[8 - row]
        if symbol == "/":
            if filled != LENGTHS[row]:
                raise ParseError(
                    f"row {name} has {filled} cells, not {LENGTHS[row]}", text=text, index=index, hint=_SHAPE
                )
            row, filled, after_digit = row + 1, 0, False
            if row == 9:
                raise ParseError("more than nine rows", text=text, index=index, hint="rows i to a, separated by /")
            continue
        if symbol in boards:
            if filled < LENGTHS[row]:
                line = 9 - row
                boards[symbol] |= 1 << number(line, max(1, line - 4) + filled)
            filled, after_digit = filled + 1, False
        elif symbol in "123456789":
            if after_digit:
                hint = "write neighbouring empty cells as one digit: 5, not 23"
                raise ParseError("two digits in a row", text=text, index=index, hint=hint)
            filled, after_digit = filled + int(symbol), True
        else:
            hint = "S = Black, s = White, 1-9 = number of empty cells, / between rows"
            raise ParseError(f"invalid character {symbol!r} in the board", text=text, index=index, hint=hint)
        if filled > LENGTHS[row]:
            raise ParseError(f"row {name} has more than {LENGTHS[row]} cells", text=text, index=index, hint=_SHAPE)
    end = start + len(field)
    if row < 8:
        raise ParseError(f"{row + 1} rows, not nine", text=text, index=end, hint="rows i to a, separated by /")
    if filled != LENGTHS[8]:
        raise ParseError(f"row a has {filled} cells, not {LENGTHS[8]}", text=text, index=end, hint=_SHAPE)
    return boards["S"], boards["s"]


_LINES = [
    [1 << number(line, digit) for digit in range(max(1, line - 4), min(9, line + 4) + 1)] for line in range(9, 0, -1)
]
"""The bits of the cells, line by line in written order."""


def write_position(state: State, config: Config) -> str:
    """Return the position string with all six fields, each run of empty cells as one digit."""
    black, white = int(state[BLACK]), int(state[WHITE])
    board = "/".join(
        ["".join(["S" if black & bit else "s" if white & bit else "." for bit in line]) for line in _LINES]
    )
    for gap in range(9, 0, -1):  # longest first, so that each gap is replaced as a whole
        board = board.replace("." * gap, str(gap))
    side = "w" if state[SIDE] else "b"
    return f"{board} {state[BY_BLACK]} {state[BY_WHITE]} {side} {state[QUIET]} {state[NUMBER]}"


@lru_cache(10_000)
def _read_cells(text: str) -> tuple[tuple[str, int], ...]:
    """Return the cells of a move text with their indices.

    Case, separators, a trailing `(e)` and a score after it are ignored.
    """
    end = len(text.rstrip(_BLANKS))
    if score := _SCORE.search(text, max(0, end - 8), end):
        end = len(text[: score.start()].rstrip(_BLANKS))
    if text[:end].endswith(("(e)", "(E)")):
        end = len(text[: end - 3].rstrip(_BLANKS))
    cells: list[tuple[str, int]] = []
    index = len(text) - len(text.lstrip(_BLANKS))
    while index < end:
        if cells:
            index = _skip_separator(text, index, end)
        name = text[index : min(index + 2, end)]
        if len(name) < 2 or not name.isascii() or name.lower() not in CELLS:
            raise ParseError(f"unknown cell {name!r}", text=text, index=index, hint=_cell_hint(name))
        if len(cells) == 3:
            raise ParseError("a fourth cell", text=text, index=index, hint=MOVE_HINT)
        cells.append((name.lower(), index))
        index += 2
    if len(cells) < 2:
        raise ParseError("a move names two or three cells", text=text, index=end, hint=MOVE_HINT)
    return tuple(cells)


def _skip_separator(text: str, index: int, end: int) -> int:
    """Return the index after a separator: blanks, with at most one `-` among them."""
    seen = False
    while index < end and (text[index] in _BLANKS or (text[index] == "-" and not seen)):
        seen = seen or text[index] == "-"
        index += 1
    return index


def _cell_hint(name: str) -> str:
    letter = name[:1].lower()
    if len(letter) == 1 and letter in ROWS:
        line = ROWS.index(letter) + 1
        return f"row {letter} has the cells {letter}{max(1, line - 4)} to {letter}{min(9, line + 4)}"
    return "a cell is a row a..i and a digit, e5 in the centre"


def _step(start: str, end: str) -> tuple[int, int]:
    row, digit = PLACES[CELLS[start]]
    to_row, to_digit = PLACES[CELLS[end]]
    return to_row - row, to_digit - digit


def read_move(text: str, state: State | None = None, config: Config | None = None) -> int:
    """Return the code of a move in any accepted spelling. State and legality do not matter. Raise ParseError."""
    return _read_move(text)


@lru_cache(8192)
def _read_move(text: str) -> int:
    named = _read_cells(text)
    names = [name for name, _ in named]
    if names[0] == names[1]:
        raise ParseError("the same cell twice", text=text, index=named[1][1], hint=MOVE_HINT)
    if len(names) == 3:
        names = _order_ends(named, text)
    code = MOVE_CODES.get("".join(names))
    if code is None:
        hint = "an inline move goes from the rearmost marble to the next cell; " + MOVE_HINT
        raise ParseError(f"{names[1]} is not next to {names[0]}", text=text, index=named[1][1], hint=hint)
    return code


def _order_ends(named: tuple[tuple[str, int], ...], text: str) -> list[str]:
    """Check the three cells of a broadside; return them with the alphanumerically lower end first. Raise ParseError."""
    (first, _), (second, at_second), (target, at_target) = named
    up, right = _step(first, second)
    length = max(abs(up), abs(right))
    if length > 2 or (up // length, right // length) not in DELTAS or up % length or right % length:
        hint = "the first two cells are the ends of a straight line of two or three marbles"
        raise ParseError(
            f"{first} and {second} are not the ends of a line of two or three marbles",
            text=text,
            index=at_second,
            hint=hint,
        )
    step = _step(first, target)
    if step not in DELTAS:
        hint = "the third cell is where the marble named first goes"
        raise ParseError(f"{target} is not next to {first}", text=text, index=at_target, hint=hint)
    along = (up // length, right // length)
    if step in (along, (-along[0], -along[1])):
        hint = f"write a move along the line with two cells, {MOVE_HINT}"
        raise ParseError("the target is on the line of the marbles", text=text, index=at_target, hint=hint)
    if first < second:
        return [first, second, target]
    row, digit = PLACES[CELLS[second]]
    row, digit = row + step[0], digit + step[1]
    if not is_cell(row, digit):
        raise ParseError(f"{second} would leave the board", text=text, index=at_second, hint=MOVE_HINT)
    return [second, first, NAMES[number(row, digit)]]


def write_move(code: int) -> str:
    """Return the canonical text of a code. Raise ValueError for a number that is not a move code."""
    try:
        return MOVE_TEXTS[int(code)]
    except KeyError:
        raise ValueError(f"invalid move code {code}: expected a code of a legal move") from None


def display_move(code: int, state: State, config: Config) -> str:
    """Return the canonical text; if the options enable them, an ejection adds `(e)` and the score ` B-W`."""
    text = write_move(code)
    if not config[MARK_EJECTIONS] and not config[SHOW_SCORE]:
        return text
    after = follow(state, code)
    if after is None or after[QUIET]:
        return text
    mark = "(e)" if config[MARK_EJECTIONS] else ""
    score = f" {after[BY_BLACK]}-{after[BY_WHITE]}" if config[SHOW_SCORE] else ""
    return text + mark + score


NOTATION: Final = Notation(read_position, write_position, read_move, write_move, display_move)
