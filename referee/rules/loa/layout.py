"""LOA positions prepared for drawing: squares, pieces, groups, the hole, and where the neutral piece may not move."""

from __future__ import annotations

from functools import cache

from referee.rules.loa.state import BAN, HOLE, SIZE, square_name, squares, unpack
from referee.rules.rules import Board, Cell, Config, Mark, Piece, State

PIECES = (
    Piece("b", "black stone", "first", "●"),
    Piece("w", "white stone", "second", "○"),
    Piece("z", "neutral stone", None, "◆"),
)

MARKS = (
    Mark("group", "the largest of a side, joined by lines", "none", is_linked=True),
    Mark("stray", "outside the largest group", "dot", is_optional=True),
    Mark("isolated", "touches no other piece", is_optional=True),
    Mark("banned", "may not be entered now", "cross"),
)

EMBLEM = (
    "M1.6 19a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0Z"
    "M8.6 12a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0Z"
    "M15.6 5a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0ZM17 17a2 2 0 1 0 4 0a2 2 0 1 0-4 0Z"
    "M5 5a2 2 0 1 0 4 0a2 2 0 1 0-4 0Z"
)
"""Three stones in a line, two apart."""
_STEPS = (-17, -16, -15, -1, 1, 15, 16, 17)


@cache
def _cells(size: int, hole: int) -> tuple[Cell, ...]:
    return tuple(
        Cell(square_name(square), square % 16, square // 16, "hole" if square == hole else "plain")
        for square in squares(size)
    )


def groups(members: set[int]) -> list[set[int]]:
    """Return the groups of touching squares, largest first, then by lowest square."""
    left, parts = set(members), []
    while left:
        group, front = set(), [left.pop()]
        while front:
            square = front.pop()
            group.add(square)
            near = {square + step for step in _STEPS} & left
            left -= near
            front += near
        parts.append(group)
    return sorted(parts, key=lambda group: (-len(group), min(group)))


def board(state: State, config: Config) -> Board:
    """Return the board with a note per side on its groups.

    Labels are `group` (a piece of its side's largest group), `stray` (another piece of a side), `isolated` (a neutral
    piece that touches no piece) and `banned` (the square to which the neutral piece may not return).
    """
    pieces = unpack(state, config)
    marks: dict[str, tuple[str, ...]] = {}
    notes = []
    neutral = {square for square, symbol in pieces.items() if symbol == "z"}
    for symbol, name in (("b", "Black"), ("w", "White")):
        own = {square for square, piece in pieces.items() if piece == symbol}
        parts = groups(own | neutral) if own else []
        for number, group in enumerate(parts):
            for square in group - neutral:
                marks[square_name(square)] = ("stray",) if number else ("group",)
        count = "1 piece" if len(own) == 1 else f"{len(own)} pieces"
        shape = "connected" if len(parts) < 2 else f"{len(parts)} groups"
        notes.append(f"{name} {count}, {shape}")
    for square in neutral:
        if not any(square + step in pieces for step in _STEPS):
            marks[square_name(square)] = ("isolated",)
            notes.append("neutral piece isolated: neither side may move it")
    if state[BAN]:
        banned = square_name(int(state[BAN]) - 1)
        marks[banned] = (*marks.get(banned, ()), "banned")
        notes.append(f"neutral piece may not return to {banned}")
    return Board(
        shape="square",
        cells=_cells(int(config[SIZE]), int(config[HOLE])),
        pieces={square_name(square): symbol for square, symbol in pieces.items()},
        marks=marks,
        notes=tuple(notes),
    )
