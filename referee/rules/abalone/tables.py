"""The geometry of the Abalone board and the numbers of cells and moves, shared by kernel and notation.

    The 61 cells are numbered 13 * row + digit (mod 61), rows a = 1 .. i = 9:

            0  1  2  3  4               row i          every step along a line is then one and the same
          47 48 49 50 51 52             row h          rotation of a 61-bit word, wherever on the board:
        33 34 35 36 37 38 39            row g
      19 20 21 22 23 24 25 26           row f              NW +13   NE +14
     5  6  7  8  9 10 11 12 13          row e           W -1     *     E +1
      53 54 55 56 57 58 59 60           row d              SW -14   SE -13
        40 41 42 43 44 45 46            row c
          27 28 29 30 31 32             row b          A step off the board would land on some other cell, so
           14 15 16 17 18               row a          every rotation is followed by a mask (`INSIDE`).

A move code is `(5 * direction + shape) * 64 + cell`. Shape 0 is an inline move named by its rearmost cell. Shapes 1 and
2 are broadsides of two and three marbles along the first of the two other axes, 3 and 4 along the second. A broadside
is named by its alphanumerically lower end.
"""

from __future__ import annotations

from typing import Final

RING: Final = 61
ROWS: Final = "abcdefghi"

DIRECTIONS: Final = ("E", "NE", "NW", "W", "SW", "SE")
DELTAS: Final = ((0, 1), (1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0))
"""(row, digit) steps; direction `d + 3` is the opposite of `d`, and 0..2 are the axes in their upward sense."""
STEPS: Final = tuple((13 * row + digit) % RING for row, digit in DELTAS)
OTHER_AXES: Final = ((1, 2), (0, 2), (0, 1))
"""The two axes (as their upward directions) that a direction `d` with `d % 3` equal to the index does not lie on."""

CELL_BITS: Final = 6
SHAPES: Final = 5
INLINE: Final = 0


def is_cell(row: int, digit: int) -> bool:
    """Return whether the board has this cell (1-based row and digit)."""
    return 1 <= row <= 9 and 1 <= digit <= 9 and abs(row - digit) <= 4


def number(row: int, digit: int) -> int:
    """Return the number (bit index) of a cell."""
    return (13 * row + digit) % RING


PLACES: Final = {
    number(row, digit): (row, digit) for row in range(1, 10) for digit in range(1, 10) if is_cell(row, digit)
}
"""Cell number to (row, digit), in the order of the names."""
NAMES: Final = {cell: f"{ROWS[row - 1]}{digit}" for cell, (row, digit) in PLACES.items()}
CELLS: Final = {name: cell for cell, name in NAMES.items()}

NEIGHBOURS: Final = tuple(
    {
        cell: number(row + up, digit + right) if is_cell(row + up, digit + right) else -1
        for cell, (row, digit) in PLACES.items()
    }
    for up, right in DELTAS
)
"""By direction: cell to the next cell that way, -1 off the board."""

FULL: Final = (1 << RING) - 1
INSIDE: Final = tuple(
    sum(1 << cell for cell, neighbour in neighbours.items() if neighbour >= 0) for neighbours in NEIGHBOURS
)
"""By direction: the cells that have a neighbour that way, as a bit set."""


def _distance(cell: int) -> int:
    row, digit = (value - 5 for value in PLACES[cell])
    return max(abs(row), abs(digit), abs(row - digit))


CIRCLES: Final = tuple(sum(1 << cell for cell in NAMES if _distance(cell) == radius) for radius in range(5))
"""By distance from the centre e5: the cells at it, as a bit set; the last one is the rim."""


def _moves() -> dict[int, str]:
    texts: dict[int, str] = {}
    for direction, neighbours in enumerate(NEIGHBOURS):
        for cell, target in neighbours.items():
            if target < 0:
                continue
            texts[5 * direction << CELL_BITS | cell] = NAMES[cell] + NAMES[target]
            for place, axis in enumerate(OTHER_AXES[direction % 3]):
                end = cell
                for length in (2, 3):
                    end = NEIGHBOURS[axis][end]
                    if end < 0:
                        break
                    shape = 2 * place + length - 1
                    texts[5 * direction + shape << CELL_BITS | cell] = NAMES[cell] + NAMES[end] + NAMES[target]
    return dict(sorted(texts.items()))


MOVE_TEXTS: Final = _moves()
"""All codes that have a canonical text, with that text."""
MOVE_CODES: Final = {text: code for code, text in MOVE_TEXTS.items()}


def code_shape(code: int) -> int:
    """Return the shape of a code: 0 inline, 1..4 broadside."""
    return (code >> CELL_BITS) % SHAPES


def code_line(code: int) -> tuple[int, ...]:
    """Return the cells that a code names: the rear of an inline move, or the marbles of a broadside, low end first."""
    shape, cell = code_shape(code), code & ((1 << CELL_BITS) - 1)
    if shape == INLINE:
        return (cell,)
    along = NEIGHBOURS[OTHER_AXES[code_direction(code) % 3][(shape - 1) // 2]]
    second = along[cell]
    return (cell, second) if shape % 2 == 1 else (cell, second, along[second])


def code_direction(code: int) -> int:
    """Return the direction of a code, an index of `DIRECTIONS`."""
    return (code >> CELL_BITS) // SHAPES


def stays_inside(code: int) -> bool:
    """Return whether every marble of a code has a target cell on the board."""
    return all(NEIGHBOURS[code_direction(code)][cell] >= 0 for cell in code_line(code))
