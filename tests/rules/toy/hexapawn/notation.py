"""The texts of hexapawn. Refuses to know which moves are legal."""

from __future__ import annotations

import re

import numpy as np

from referee.rules.core import ParseError
from referee.rules.rules import Config, GameFormat, GameText, Notation, Ruleset, State

PASS = 256
WIDTH = 3
_MOVE = re.compile(r"([a-d])([1-3])[-x]?([a-d])([1-3])")


def name(square: int) -> str:
    """`a1` for 0."""
    return f"{'abcd'[square % 4]}{square // 4 + 1}"


def read_position(text: str, config: Config) -> State:
    """`<board> <w|b>`, ranks from the top. Raises ParseError."""
    width = int(config[WIDTH])
    found = re.fullmatch(r"([^ ]+) ([wb])", text)
    ranks = found[1].split("/") if found else []
    if not found or len(ranks) != 3:
        raise ParseError("not a position", text=text, hint="write three ranks and the side to move: bbb/3/www w")
    state, index = np.zeros(14, dtype=np.int64), 0
    for rank, content in zip((2, 1, 0), ranks, strict=True):
        cells = re.sub(r"[1-4]", lambda run: "." * int(run[0]), content)
        if len(cells) != width or set(cells) - set(".wb") or re.search(r"\d\d", content):
            raise ParseError(f"rank {rank + 1} is wrong", text=text, index=index, hint=f"{width} squares of w, b, runs")
        for file, cell in enumerate(cells):
            state[4 * rank + file] = ".wb".index(cell)
        index += len(content) + 1
    state[12] = "wb".index(found[2])
    return state


def write_position(state: State, config: Config) -> str:
    """The canonical position string."""
    width = int(config[WIDTH])
    rows = ("".join(".wb"[int(state[4 * rank + file])] for file in range(width)) for rank in (2, 1, 0))
    return "/".join(re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in rows) + f" {'wb'[int(state[12])]}"


def read_move(text: str, state: State, config: Config) -> int:
    """`a1a2`, `a1-a2`, `a1xb2` or `pass`. Raises ParseError."""
    if text == "pass":
        return PASS
    found = _MOVE.fullmatch(text)
    if not found:
        raise ParseError("not a move", text=text, hint="write source and target, as a1a2, or pass")
    one, two = (4 * (int(rank) - 1) + "abcd".index(file) for file, rank in (found.groups()[:2], found.groups()[2:]))
    return one * 16 + two


def write_move(code: int) -> str:
    """The canonical text of a code."""
    return "pass" if code == PASS else name(code // 16) + name(code % 16)


def display_move(code: int, state: State, config: Config) -> str:
    """`a1-a2`, `a1xb2`, `pass`."""
    return "pass" if code == PASS else f"{name(code // 16)}{'x' if state[code % 16] else '-'}{name(code % 16)}"


def _read(text: str, ruleset: Ruleset) -> list[GameText]:
    start = ruleset.read()
    moves = tuple(write_move(read_move(word, start, ruleset.config)) for word in text.split())
    return [GameText(moves)] if moves else []


def _write(game: GameText, ruleset: Ruleset) -> str:
    return " ".join(game.moves)


NOTATION = Notation(read_position, write_position, read_move, write_move, display_move, pass_move=PASS)
FORMAT = GameFormat("plain", _read, _write, "moves between blanks")
