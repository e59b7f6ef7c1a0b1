"""The reason that a move of Lines of Action is not legal, in the words of players."""

from __future__ import annotations

from referee.rules.loa.state import SIZE, square_name, unpack
from referee.rules.rules import Config, State


def refuse(code: int, state: State, config: Config) -> str:
    """Return why the move of a piece of the side to move is not legal; empty if nothing here explains it."""
    pieces, size = unpack(state, config), int(config[SIZE])
    source, target = divmod(code, 256)
    up, right = target // 16 - source // 16, target % 16 - source % 16
    length = max(abs(up), abs(right))
    if not length or (0 not in (up, right) and abs(up) != abs(right)):
        return f"{square_name(source)} and {square_name(target)} are not on one line"
    step = (up // length) * 16 + right // length
    count = sum(square in pieces for square in _line(source, up // length, right // length, size))
    if count == 1 != length:
        return "the piece is alone on this line, so it moves one square"
    if count != length:
        return f"{count} pieces are on this line, so the piece moves {count} squares"
    for square in range(source + step, target, step):
        if square in pieces and pieces[square] != pieces[source]:
            return f"the piece on {square_name(square)} is in the way"
    if pieces.get(target) == pieces[source]:
        return f"a piece of your own is on {square_name(target)}"
    return ""


def _line(square: int, up: int, right: int, size: int) -> list[int]:
    rank, file = divmod(square, 16)
    places = ((rank + n * up, file + n * right) for n in range(-size, size + 1))
    return [row * 16 + column for row, column in places if 0 <= row < size and 0 <= column < size]
