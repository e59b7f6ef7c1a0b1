"""Positions and moves as text: the position string, canonical moves, and moves as people and vchess write them.

Only moves written without their origin are checked for legality.
"""

from __future__ import annotations

import re
from functools import lru_cache
from types import ModuleType

import numpy as np

from referee.rules.baroque.state import LAST_COUNT, LETTERS, NAMES, NUMBER, QUIET, SIDE, STATE_SIZE, SYMBOLS
from referee.rules.core import ParseError
from referee.rules.rules import Config, Notation, State

POSITION_HINT = "write '<board> <w|b> <plies without capture> <move number>', as 8/8/4k3/8/8/3K4/8/8 w 0 1"
MOVE_HINT = "write origin and destination, as c2c4; d4d4 for suicide"
MAX_POSITION_LENGTH = 200


def _kernel() -> ModuleType:
    """Return the compiled rules, loaded on first use: most texts can be read without them."""
    from referee.rules.baroque import kernel

    return kernel


def square_name(square: int) -> str:
    """Return the name of a square: `a1` for 0 to `h8` for 63."""
    return "abcdefgh"[square % 8] + str(square // 8 + 1)


def squares_of(bits: int) -> list[int]:
    """Return the squares of a bitboard, ascending."""
    found = []
    while bits:
        found.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return found


def pieces_of(state: State) -> dict[int, str]:
    """Return the letter on each occupied square."""
    words = state[: len(SYMBOLS)].tolist()
    return {square: symbol for symbol, bits in zip(SYMBOLS, words, strict=True) for square in squares_of(bits)}


def piece_at(state: State, square: int) -> str:
    """Return the letter on a square; "" if it is empty."""
    words = state[: len(SYMBOLS)].tolist()
    return next((symbol for symbol, bits in zip(SYMBOLS, words, strict=True) if bits >> square & 1), "")


# Positions


def _read_board(board: str, text: str, start: int, state: State) -> None:
    """Parse the board of a position string, which begins at `start` of `text`, into `state`. Raise ParseError."""
    rank, file = 7, 0
    for place, letter in enumerate(board, start):
        if letter == "/":
            if file != 8:
                raise ParseError(f"rank {rank + 1} has {file} squares", text=text, index=place, hint="fill it to 8")
            rank, file = rank - 1, 0
            if rank < 0:
                raise ParseError("more than 8 ranks", text=text, index=place, hint=POSITION_HINT)
            continue
        piece = SYMBOLS.find(letter)
        if letter in "12345678":
            file += int(letter)
        elif piece < 0:
            raise ParseError(
                f"unknown piece {letter!r}", text=text, index=place, hint="pieces are PRNBQMK and prnbqmk, gaps 1 to 8"
            )
        else:
            if file < 8:
                state[piece] |= np.uint64(1 << (8 * rank + file))
            file += 1
        if file > 8:
            raise ParseError(f"rank {rank + 1} has more than 8 squares", text=text, index=place, hint=POSITION_HINT)
        if letter in "Kk" and int(state[piece]).bit_count() > 1:
            raise ParseError("two kings of one colour", text=text, index=place, hint="each side has one king")
    if (rank, file) != (0, 8):
        raise ParseError(
            f"the board ends on rank {rank + 1} after {file} squares",
            text=text,
            index=start + len(board),
            hint="give 8 ranks of 8 squares, rank 8 first",
        )


def _read_number(field: tuple[int, str], text: str, minimum: int) -> int:
    """Return the counter that a field of `text`, given as (index, letters), contains. Raise ParseError."""
    place, letters = field
    if letters.isascii() and letters.isdecimal() and len(letters) <= 9 and int(letters) >= minimum:
        return int(letters)
    raise ParseError("not a counter", text=text, index=place, hint=f"write a number from {minimum} to {LAST_COUNT}")


def read_position(text: str, config: Config) -> State:
    """Return the state of a position string of two, three or four fields. Raise ParseError.

    Three fields are vchess's form: the third counts the plies played. A side may lack its king (for analysis). A
    position in which the side that is not to move is in check is rejected, since no game reaches it.
    """
    if len(text) > MAX_POSITION_LENGTH:
        raise ParseError("the position is too long", text=text, index=MAX_POSITION_LENGTH, hint=POSITION_HINT)
    fields = [(field.start(), field.group()) for field in re.finditer(r"[^ \t\r\n]+", text)]
    if not 2 <= len(fields) <= 4:
        place = fields[4][0] if len(fields) > 4 else len(text)
        raise ParseError(f"{len(fields)} fields", text=text, index=place, hint=POSITION_HINT)
    state = np.zeros(STATE_SIZE, dtype=np.uint64)
    _read_board(fields[0][1], text, fields[0][0], state)
    if fields[1][1] not in ("w", "b"):
        raise ParseError(f"invalid side to move {fields[1][1]!r}", text=text, index=fields[1][0], hint="write w or b")
    quiet, number = 0, 1
    if len(fields) == 3:
        number += _read_number(fields[2], text, 0) // 2
    elif len(fields) == 4:
        quiet, number = _read_number(fields[2], text, 0), _read_number(fields[3], text, 1)
    state[SIDE] = np.uint64(fields[1][1] == "b")
    state[QUIET], state[NUMBER] = np.uint64(quiet), np.uint64(number)
    if _AT_HOME not in fields[0][1]:
        _refuse_check(state, config, text, fields[1][0])
    return state


_AT_HOME = "/pppppppp/8/8/8/8/PPPPPPPP/"
"""Between unmoved pincers there are no attacks, so starts can be read without the kernel."""


def _refuse_check(state: State, config: Config, text: str, index: int) -> None:
    """Raise ParseError if the side that is not to move is in check: its last move would have been illegal."""
    waiting = state.copy()
    waiting[SIDE] = np.uint64(1 - int(state[SIDE]))
    if config is not None and _kernel().in_check(waiting, config):
        name, other = ("Black", "b") if waiting[SIDE] else ("White", "w")
        problem = f"{name}'s king is in check although {name} is not to move"
        raise ParseError(problem, text=text, index=index, hint=f"write {other} as the side to move, or move the king")


def write_position(state: State, config: Config) -> str:
    """Return the canonical position string: board, side to move, plies without capture, move number."""
    cells = ["."] * 64
    for square, symbol in pieces_of(state).items():
        cells[square] = symbol
    board = "/".join("".join(cells[8 * rank : 8 * rank + 8]) for rank in range(7, -1, -1))
    for gap in range(8, 0, -1):  # longest first, so that each gap is replaced as a whole
        board = board.replace("." * gap, str(gap))
    return f"{board} {'b' if state[SIDE] else 'w'} {int(state[QUIET])} {int(state[NUMBER])}"


# Moves

_FORM = re.compile(
    r"(?P<letter>[PRNBQMK])?(?P<origin>[a-h][1-8])?(?:(?P<off>-off)|(?P<takes>x)?(?P<end>[a-h][1-8])(?P<mark>X)?)",
    re.ASCII,
)


_LOUD = re.compile(r"[A-H][1-8][A-H][1-8]", re.ASCII)
"""The canonical form in upper case. No display form looks like it: a piece stands before a file."""
_NAMES = tuple(map(square_name, range(64)))
_SQUARES = {name: square for square, name in enumerate(_NAMES)}


def _malformed(text: str) -> ParseError:
    """Return the error for a text that is not a move, at its first deviation from the canonical form."""
    start = int(text[:1] in tuple(LETTERS))
    wanted = ("abcdefgh", "12345678") * 2
    squares = text[start : start + 4]
    place = start + next((i for i, letter in enumerate(squares) if letter not in wanted[i]), len(squares))
    return ParseError("not a move", text=text, index=place, hint=MOVE_HINT)


def _without_origin(text: str, state: State, config: Config) -> int:
    """Return the only legal move that `Rc5X` can mean. Raise ParseError if there is not exactly one."""
    match = _FORM.fullmatch(text)
    assert match is not None
    kernel = _kernel()
    buffer = np.empty(kernel.MAX_MOVES, dtype=np.int64)
    end, piece = _SQUARES[match["end"]], LETTERS.index(match["letter"]) + 7 * int(state[SIDE])
    moves = [
        move
        for move in buffer[: kernel.legal(state, config, buffer)].tolist()
        if move % 64 == end and move // 64 != end and int(state[piece]) >> (move // 64) & 1
    ]
    if len(moves) > 1:
        capturing = bool(match["takes"] or match["mark"])
        moves = [move for move in moves if bool(victim_squares(move, state, config)) == capturing] or moves
    if len(moves) == 1:
        return int(moves[0])
    if not moves:
        raise ParseError(f"no {NAMES[piece % 7]} can go to {match['end']}", text=text, hint=MOVE_HINT)
    raise ParseError("ambiguous move", text=text, hint="write one of " + ", ".join(map(write_move, moves)))


def victim_squares(move: int, state: State, config: Config) -> list[int]:
    """Return the squares on which a move captures, ascending."""
    return squares_of(int(_kernel().victims(state, config, move)))


_WAYS = {
    "P": "pinches {}",
    "R": "coordinates with its king against {}",
    "Q": "withdraws from {}",
    "N": "leaps over {}",
    "K": "takes {}",
}
"""Text for the captures of each kind of piece."""


def _listed(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def explain(move: int, state: State, config: Config) -> str:
    """Describe the captures of a move: `as a leaper leaps over the leaper on c4, as a pincer pinches …`."""
    origin, end = divmod(move, 64)
    mover = piece_at(state, origin).upper()
    if not mover:
        return ""
    if origin == end:
        return "removes itself"
    victims: dict[str, list[str]] = {}
    for square in victim_squares(move, state, config):
        kind = piece_at(state, square).upper()
        victims.setdefault(kind if mover == "B" else mover, []).append(
            f"the {NAMES[LETTERS.index(kind)]} on {square_name(square)}"
        )
    said = []
    for way in "NPRQK":
        if way in victims:
            named = _WAYS[way].format(_listed(victims[way]))
            said.append(f"as a {NAMES[LETTERS.index(way)]} {named}" if mover == "B" else named)
    return ", ".join(said)


def read_move(text: str, state: State, config: Config) -> int:
    """Return the code of a move in any accepted spelling. Raise ParseError.

    Accepted are:

    - `c2c4` and `d4d4`, also in upper case
    - the display forms `Pc2c4X`, `Kd4xe5`, `Md4-off`, whose piece must be on the origin; capture marks are not checked
    - vchess's forms without origin, `Rc5X`, if exactly one legal move fits
    """
    place, origin, code = _read_squares(text)
    if code < 0:
        return _without_origin(text, state, config)
    if place >= 0 and not (int(state[place]) | int(state[place + 7])) >> origin & 1:
        stands = piece_at(state, origin)
        holds = NAMES[LETTERS.index(stands.upper())] if stands else "nothing"
        problem = f"{square_name(origin)} holds {holds}, not {LETTERS[place]}"
        raise ParseError(problem, text=text, index=1, hint=MOVE_HINT)
    return code


@lru_cache(8192)
def _read_squares(text: str) -> tuple[int, int, int]:
    """Return a move's piece (index in `LETTERS`), origin and code; -1 for what only the board can tell.

    Raise ParseError.
    """
    form = text.lower() if _LOUD.fullmatch(text) else text
    if len(text) > 8 or not (match := _FORM.fullmatch(form)):
        raise _malformed(text)
    letter, origin, end = match["letter"], match["origin"], match["end"]
    if (letter is None and (origin is None or len(text) != 4)) or (origin is None and end is None):
        raise _malformed(text)
    place = LETTERS.index(letter) if letter else -1
    if origin is None:
        return place, -1, -1
    return place, _SQUARES[origin], 64 * _SQUARES[origin] + _SQUARES[end or origin]


def write_move(move: int) -> str:
    """Return origin and destination, as `c2c4`."""
    return _NAMES[move // 64] + _NAMES[move % 64]


def display_move(move: int, state: State, config: Config) -> str:
    """Return `Pc2c4X`, `Kd4xe5`, `Md4-off`: piece, origin, destination; X for a capture from afar, x for the king's."""
    origin, end = divmod(move, 64)
    letter = piece_at(state, origin).upper()
    if origin == end:
        return f"{letter}{square_name(origin)}-off"
    takes = bool(letter and victim_squares(move, state, config))
    if letter == "K":
        return f"K{square_name(origin)}{'x' * takes}{square_name(end)}"
    return f"{letter}{square_name(origin)}{square_name(end)}{'X' * takes}"


NOTATION = Notation(read_position, write_position, read_move, write_move, display_move)
