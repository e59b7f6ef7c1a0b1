"""Position strings and move texts of LOA: canonical writers, and readers, which raise ParseError for invalid texts."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from referee.rules.core import ParseError
from referee.rules.loa.state import (
    BAN,
    FIRST,
    HOLE,
    NEUTRAL,
    NUMBER,
    PASS,
    SECOND,
    SIDE,
    SIZE,
    ZEN,
    pack,
    square_name,
    unpack,
)
from referee.rules.rules import ChessDialect, Config, Notation, State

_SQUARE = re.compile(r"[a-l][1-9][0-9]?")
_MOVE = re.compile(r"([a-l][1-9][0-9]?)([-x:]?)([a-l][1-9][0-9]?)")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_FIELD = re.compile(r"[^ ]+")
_DIALECTS = ({"b": "b", "w": "w", "z": "z"}, {"L": "b", "l": "w"}, {"p": "b", "P": "w"})
"""Piece letters: our own; those of PlayStrategy and LOABot (`L` the first player); those of the cutechess draft."""

_SHAPE = "write <board> <b|w> <- or square> <number>"


def _square(text: str, size: int, whole: str, index: int) -> int:
    """Return the square that a text of the form `[a-l][1-9][0-9]?` names. Raise ParseError off the board."""
    file, rank = ord(text[0]) - ord("a"), int(text[1:]) - 1
    if file >= size or rank >= size:
        corner = square_name((size - 1) * 17)
        raise ParseError(f"{text} is off the board", text=whole, index=index, hint=f"squares are a1..{corner}")
    return rank * 16 + file


def _letters(board: str) -> dict[str, str]:
    """Return the piece letters of a board's dialect, which its first piece decides; the canonical ones by default."""
    for letter in board:
        for dialect in _DIALECTS:
            if letter in dialect:
                return dialect
    return _DIALECTS[0]


def _board(board: str, config: Config, text: str, start: int, letters: dict[str, str]) -> dict[int, str]:
    """Return the pieces of the board field, which begins at `start` of `text`. Raise ParseError."""
    size, hole = int(config[SIZE]), int(config[HOLE])
    ranks = board.split("/")
    if len(ranks) != size:
        raise ParseError(f"{len(ranks)} ranks", text=text, index=start, hint=f"expected {size}")
    pieces: dict[int, str] = {}
    index = start
    for row, content in zip(range(size - 1, -1, -1), ranks, strict=True):
        file = 0
        for run in re.finditer(r"[0-9]+|[^0-9]", content):
            here, token = index + run.start(), run.group()
            if token[0] in "0123456789":
                if token[0] == "0" or len(token) > 2:
                    raise ParseError(
                        f"invalid run of empty squares {token[:20]!r}",
                        text=text,
                        index=here,
                        hint=f"a run is 1..{size}",
                    )
                file += int(token)
            elif token in letters:
                square = row * 16 + file
                if file >= size:
                    raise ParseError(f"rank {row + 1} is too long", text=text, index=here, hint=f"{size} squares each")
                if letters[token] == "z" and (not config[ZEN] or "z" in pieces.values()):
                    raise ParseError(
                        "a neutral piece is not allowed here", text=text, index=here, hint="one z, and only in zen"
                    )
                if square == hole:
                    raise ParseError("a piece on the hole", text=text, index=here, hint="write it as an empty square")
                pieces[square] = letters[token]
                file += 1
            else:
                raise ParseError(f"unknown piece {token!r}", text=text, index=here, hint="pieces are b, w and z")
        if file != size:
            raise ParseError(f"rank {row + 1} has {file} squares", text=text, index=index, hint=f"{size} squares each")
        index += len(content) + 1
    for symbol, name in (("b", "Black"), ("w", "White")):
        if not config[ZEN] and symbol not in pieces.values():
            raise ParseError(f"{name} has no piece", text=text, index=start, hint="each side needs at least one piece")
    return pieces


def _number(field: str, text: str, index: int) -> int:
    if not _NUMBER.fullmatch(field):
        raise ParseError("invalid move number", text=text, index=index, hint="a decimal number from 1 to 999999999")
    return int(field)


def read_position(text: str, config: Config) -> State:
    """Return the state of `<board> <side> [<ban> [<number>]]`; see "Notation" in RULES.md.

    Boards with `L l` (PlayStrategy, LOABot) or `p P` (cutechess draft) are accepted too, with the six fields of those
    programs: `<board> <side> - - <number> <number>`. Raise ParseError.
    """
    fields = [(match.group(), match.start()) for match in _FIELD.finditer(text)]
    if len(fields) < 2:
        raise ParseError("position too short", text=text, index=len(text), hint=_SHAPE)
    board, start = fields[0]
    letters = _letters(board)
    pieces = _board(board, config, text, start, letters)
    side, where = fields[1]
    if side not in ("b", "w"):
        raise ParseError(
            f"invalid side to move {side[:20]!r}", text=text, index=where, hint="the side to move is b or w"
        )
    second = side == ("b" if "L" in letters else "w")
    own = letters is _DIALECTS[0]
    rest = fields[2:]
    if len(rest) > (2 if own else 4):
        raise ParseError("too many fields", text=text, index=rest[-1][1], hint=_SHAPE)
    ban, number = -1, 1
    for place, (field, where) in enumerate(rest):
        if place == (1 if own else 3):
            number = _number(field, text, where)
        elif place == 2:
            if not re.fullmatch(r"[0-9]{1,9}", field):
                raise ParseError("invalid half-move clock", text=text, index=where, hint="a decimal number")
        elif field != "-":
            if not (own and config[ZEN] and _SQUARE.fullmatch(field)):
                raise ParseError(f"invalid ban {field[:20]!r}", text=text, index=where, hint="`-`, or in zen a square")
            ban = _square(field, int(config[SIZE]), text, where)
    return pack(pieces, config, side=int(second), ban=ban, number=number)


def write_position(state: State, config: Config) -> str:
    """Return the canonical position string, always with four fields."""
    size, words = int(config[SIZE]), state.tolist()
    row, neutral = size if size == 8 else 16, words[NEUTRAL] - 1
    ranks = []
    for rank in range(size - 1, -1, -1):
        word, shift = divmod(rank * row, 64)
        first, second = (words[side + word] >> shift & (1 << row) - 1 for side in (FIRST, SECOND))
        ranks.append(_write_rank(first, second, neutral % 16 if neutral // 16 == rank else -1, size))
    ban = square_name(words[BAN] - 1) if words[BAN] else "-"
    return f"{'/'.join(ranks)} {'bw'[words[SIDE]]} {ban} {words[NUMBER]}"


@lru_cache(8192)
def _write_rank(first: int, second: int, neutral: int, size: int) -> str:
    """Return the text of a rank, given the files of each side's pieces as bits and that of the neutral piece (-1 =
    none).
    """
    letters = "".join(
        "b" if first >> file & 1 else "w" if second >> file & 1 else "z" if file == neutral else "."
        for file in range(size)
    )
    return re.sub(r"\.+", lambda gap: str(len(gap[0])), letters)


def read_move(text: str, state: State, config: Config) -> int:
    """Return the code of `b1b3`, `b1-b3`, `d1xa4`, `d1:a4`, `pass` or `0000`, in either case. Raise ParseError."""
    return _read_move(text, int(config[SIZE]))


@lru_cache(8192)
def _read_move(text: str, size: int) -> int:
    lower = text.lower() if text.isascii() and len(text) <= 16 else text[:40]
    if lower in ("pass", "0000"):
        return PASS
    match = _MOVE.fullmatch(lower)
    if not match:
        raise ParseError("not a move", text=text, hint="write source and target, as b1b3, or pass")
    source = _square(match[1], size, text, 0)
    return source * 256 + _square(match[3], size, text, match.start(3))


def write_move(code: int) -> str:
    """Return the canonical text of a code: `b1b3`, `pass`."""
    return "pass" if code == PASS else square_name(code // 256) + square_name(code % 256)


def display_move(code: int, state: State, config: Config) -> str:
    """Return the move as people write it: `b1-b3`, and `d1xa4` for a capture."""
    if code == PASS:
        return "pass"
    source, target = divmod(int(code), 256)
    return f"{square_name(source)}{'x' if target in unpack(state, config) else '-'}{square_name(target)}"


_FAIRY = ChessDialect("linesofaction-draw", "standard", {"b": "n", "w": "N"}, {"b": "b", "w": "w"})
CHESS = (
    _FAIRY,
    replace(_FAIRY, name="linesofaction", rules={"simultaneous": "mover"}),
    ChessDialect("", "standard", {"b": "L", "w": "l"}, {"b": "w", "w": "b"}, {"simultaneous": "mover"}),
)
"""Fairy-Stockfish-X has both editions as variants; LOABot plays nothing else, and calls the first player White."""

NOTATION = Notation(
    read_position=read_position,
    write_position=write_position,
    read_move=read_move,
    write_move=write_move,
    display_move=display_move,
    pass_move=PASS,
    chess=CHESS,
)
