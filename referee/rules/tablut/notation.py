"""Position and move texts of Tablut, read and written.

A position is `<board> <side> <quiet> <ply>`, a move is start and end cell, `e3e4`. Readers raise ParseError for an
invalid text, and no other error.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NoReturn

import numpy as np

from referee.rules.core import ParseError
from referee.rules.rules import ChessDialect, Config, Notation, State
from referee.rules.tablut.state import KING, PLY, QUIET, SIDE, STATE_SIZE, pieces_of
from referee.rules.tablut.tables import CELLS, LINES, NAMES, NUMBERS, SIZE, THRONE, lines_through

MAX_COUNTER_DIGITS = 9
SIDE_LETTERS = "ad"
DEFENDERS = "TK"

_WORD = re.compile(r"[^ \t\r\n]+")
_CELL = r"[a-iA-I][1-9]"
_MOVE = re.compile(
    rf"[ \t\r\n]*[kKtT]?({_CELL})-?({_CELL})"
    rf"(?:[xX][kKtT]?{_CELL}(?:/[kKtT]?{_CELL})*)?"
    r"(?:\+\+?|--?)?"
    r"(?:[ \t]+(?:raichi|tuichi))?[ \t\r\n]*",
    re.IGNORECASE | re.ASCII,
)


def _read_board(word: str, start: int, text: str) -> dict[int, str]:
    """Return the pieces of the board `word`, which begins at index `start` of `text`."""

    def fail(problem: str, at: int, hint: str = "nine rows of nine cells, rank 1 first: t T K and digits") -> NoReturn:
        raise ParseError(problem, text=text, index=start + at, hint=hint)

    first = 1 if word.startswith("/") else 0
    last = len(word) - 1 if len(word) > 1 and word.endswith("/") else len(word)
    pieces: dict[int, str] = {}
    file = rank = 0
    for at in range(first, last):
        symbol = word[at]
        if symbol == "/":
            if file != SIZE:
                fail(f"rank {rank + 1} has {file} cells", at)
            file, rank = 0, rank + 1
            if rank == SIZE:
                fail("more than nine ranks", at)
        elif symbol in "123456789":
            file += int(symbol)
        elif symbol in "tTK":
            cell = file * SIZE + rank
            if file < SIZE:
                if symbol == "K" and "K" in pieces.values():
                    fail("a second king", at, "write at most one king")
                if symbol != "K" and cell == THRONE:
                    fail("a soldier on the throne", at, "only the king may be on e5")
                pieces[cell] = symbol
            file += 1
        else:
            fail(f"unknown piece {symbol!r}", at)
        if file > SIZE:
            fail(f"rank {rank + 1} has more than nine cells", at)
    if rank != SIZE - 1 or file != SIZE:
        fail(f"the board ends on rank {rank + 1} after {file} cells", last)
    return pieces


def _read_counter(words: list[re.Match[str]], number: int, text: str) -> int:
    if len(words) <= number:
        return 0
    word = words[number].group()
    if not (word.isascii() and word.isdecimal() and len(word) <= MAX_COUNTER_DIGITS):
        raise ParseError(
            f"invalid number of plies {word[:20]!r}",
            text=text,
            index=words[number].start(),
            hint=f"at most {MAX_COUNTER_DIGITS} digits",
        )
    return int(word)


def read_position(text: str, config: Config) -> State:
    """Return the state of `<board> <side> [<quiet> [<ply>]]`. Raise ParseError."""
    words = list(_WORD.finditer(text))
    if not 2 <= len(words) <= 4:
        at = words[4].start() if len(words) > 4 else len(text)
        raise ParseError(
            f"{len(words)} words in a position",
            text=text,
            index=at,
            hint="<board> <side a|d> <plies since the last capture> <plies played>",
        )
    pieces = _read_board(words[0].group(), words[0].start(), text)
    letter = words[1].group()
    if len(letter) != 1 or letter not in SIDE_LETTERS:
        raise ParseError(
            f"invalid side to move {letter[:20]!r}",
            text=text,
            index=words[1].start(),
            hint="write a (attackers) or d (defenders)",
        )
    state = np.zeros(STATE_SIZE, dtype=np.int32)
    state[KING] = -1
    for cell, symbol in pieces.items():
        for line, place in lines_through(cell):
            state[line + (LINES if symbol in DEFENDERS else 0)] |= 1 << place
        if symbol == "K":
            state[KING] = cell
    state[SIDE] = SIDE_LETTERS.index(letter)
    state[QUIET] = _read_counter(words, 2, text)
    state[PLY] = _read_counter(words, 3, text)
    return state


def write_board(state: State) -> str:
    """Return the first word of a position: ranks 1 to 9, each run of empty cells as one digit."""
    words = state.tolist()
    file, place = divmod(words[KING], SIZE)
    return "/".join(
        _write_rank(words[rank], words[LINES + rank], file if place == rank and words[KING] >= 0 else -1)
        for rank in range(SIZE)
    )


@lru_cache(8192)
def _write_rank(attackers: int, defenders: int, king: int) -> str:
    """Return the text of a rank, given the files of each side's pieces as bits, and the king's file (-1 = not here)."""
    letters = "".join(
        "K" if file == king else "t" if attackers >> file & 1 else "T" if defenders >> file & 1 else "."
        for file in range(SIZE)
    )
    return re.sub(r"\.+", lambda run: str(len(run[0])), letters)


def write_position(state: State, config: Config) -> str:
    return f"{write_board(state)} {SIDE_LETTERS[int(state[SIDE])]} {int(state[QUIET])} {int(state[PLY])}"


def read_move(text: str, state: State | None = None, config: Config | None = None) -> int:
    """Return the code of a move text: start cell * 81 + end cell. The board is not needed. Raise ParseError.

    Upper case and one dash are accepted. Additions of OpenTafl and of engines are ignored: a piece letter in front,
    captures, `+ ++ - --`, the words raichi and tuichi.
    """
    return _read_move(text)


@lru_cache(8192)
def _read_move(text: str) -> int:
    match = _MOVE.fullmatch(text)
    if match is None:
        if text.strip() == "---":
            raise ParseError("a resignation is not a move", text=text, hint="write the move as e3e4")
        prefix = re.match(rf"[ \t\r\n]*[kKtT]?{_CELL}", text)
        raise ParseError(
            "not a move", text=text, index=prefix.end() if prefix else 0, hint="write start and end cell, as e3e4"
        )
    start, end = (NUMBERS[cell.lower()] for cell in match.groups())
    return start * CELLS + end


def write_move(move: int) -> str:
    """Return the canonical text of a code."""
    return NAMES[move // CELLS] + NAMES[move % CELLS]


def display_move(move: int, state: State, config: Config) -> str:
    """Return the move as people write it: `K` for the king, a dash, and its captures: `c1-c3xb3/d3/c4`."""
    start, end = divmod(move, CELLS)
    taken = captures(move, state, config)
    letter = "K" if state[KING] == start else ""
    extra = "x" + "/".join(NAMES[cell] for cell in taken) if taken else ""
    return f"{letter}{NAMES[start]}-{NAMES[end]}{extra}"


def captures(move: int, state: State, config: Config) -> list[int]:
    """Return the cells on which a legal move captures, ascending; empty if it moves no piece of the side to move."""
    from referee.rules.tablut.kernel import play

    start, end = divmod(move, CELLS)
    before = pieces_of(state)
    if start not in before or end in before or (before[start] in DEFENDERS) != bool(state[SIDE]):
        return []
    after = np.empty_like(state)
    play(state, config, move, after)
    left = pieces_of(after)
    return [cell for cell in before if cell not in left and cell != start]


CHESS = (
    ChessDialect(
        "tablut-throne-adjacent-strong",
        "linnaeus",
        pieces={"t": "r", "T": "R", "K": "K"},
        sides={"a": "b", "d": "w"},
        has_lowest_rank_first=True,
        is_exact=False,
    ),
)
"""Fairy-Stockfish-X moves as Linnaeus does, but its corners are hostile too, and so is the king's throne."""

NOTATION = Notation(read_position, write_position, read_move, write_move, display_move, chess=CHESS)
