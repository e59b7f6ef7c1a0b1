"""Position keys up to symmetry: one 64-bit key for all images of a position, many positions at a time in numpy.

A family describes the contents of its cells and the maps of its board that keep the rules (`Symmetry`). Databases store
the keys: a change of a family's keys invalidates every position index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from referee.rules.kernel_protocol import Config, States

if TYPE_CHECKING:
    from referee.rules.rules import Ruleset

Keys: TypeAlias = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Image:
    """One map of a board onto itself: cell `i` goes to cell `cells[i]`, symbol `s` becomes `symbols[s]`."""

    cells: tuple[int, ...]
    symbols: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Symmetry:
    """The symbols on the cells of a family's positions, and the images of the board under which they count as equal.

    Every image keeps the side to move and all rules: a move of a position has its image among the moves of the image.
    """

    contents: Callable[[States, Config], npt.NDArray[np.uint8]]
    """Return the symbol on each cell, shape (states, cells)."""
    rest: Callable[[States, Config], npt.NDArray[np.int64]]
    """Return one number per state for all other differences (side to move, phase, board); images keep it."""
    images: Callable[[Config], tuple[Image, ...]]
    """Return all images of the board of a config, the identity included. Equal boards get the same object."""


def images_of(
    places: Sequence[tuple[int, int]],
    maps: Iterable[Callable[[int, int], tuple[int, int]]],
    symbols: Iterable[Sequence[int]],
) -> tuple[Image, ...]:
    """Return an image for each pair of a map of the cells' coordinates and a permutation of the symbols.

    Raise KeyError for a map that leaves the board.
    """
    numbers = {place: number for number, place in enumerate(places)}
    orders = [tuple(order) for order in symbols]
    cells = [tuple(numbers[move(x, y)] for x, y in places) for move in maps]
    return tuple(Image(cell_map, order) for cell_map in cells for order in orders)


SQUARE: tuple[Callable[[int, int], tuple[int, int]], ...] = (
    lambda x, y: (x, y),
    lambda x, y: (-y, x),
    lambda x, y: (-x, -y),
    lambda x, y: (y, -x),
    lambda x, y: (-x, y),
    lambda x, y: (y, x),
    lambda x, y: (x, -y),
    lambda x, y: (-y, -x),
)
"""The eight symmetries of a square around its centre."""


def bits_of(words: States) -> npt.NDArray[np.uint8]:
    """Return the 64 bits of each word, lowest first, shape (words, 64)."""
    plain = np.ascontiguousarray(words, dtype="<u8" if words.dtype.kind == "u" else "<i8")
    return np.unpackbits(plain.view(np.uint8).reshape(len(words), 8), axis=1, bitorder="little")


def keys_of(ruleset: Ruleset, states: States) -> Keys:
    """Return the key of each state. All images of a position have the same key; positions that are not images of each
    other have equal keys with probability 2**-64.

    In a family without a `Symmetry` positions are equal when repetition treats them as equal.
    """
    rules = ruleset.rules
    symmetry = rules.symmetry
    if symmetry is None:
        boards = np.ascontiguousarray(states[:, : rules.kernel.KEY_SIZE])
        return np.array([_number(rules.family, board.tobytes()) for board in boards], dtype=np.uint64)
    contents = symmetry.contents(states, ruleset.config)
    table = _table(rules.family, symmetry.images(ruleset.config))
    return _mix(_sums(table, contents).min(axis=1) ^ _mix(symmetry.rest(states, ruleset.config).astype(np.uint64)))


def _sums(table: Keys, contents: npt.NDArray[np.uint8]) -> Keys:
    """Return, for each row of `contents` and each image, the sum of its cells' numbers in `table`.

    The shape is (rows, images). Successive positions differ in few cells, so all rows but the first add only the
    changes from the row before.
    """
    totals = np.empty((len(contents), table.shape[2]), dtype=np.uint64)
    cells = np.arange(contents.shape[1])
    for first in range(0, len(contents), _CHUNK_ROWS):
        part = contents[first : first + _CHUNK_ROWS]
        sums = np.zeros((len(part), table.shape[2]), dtype=np.uint64)
        sums[0] = table[cells, part[0]].sum(axis=0)
        rows, changed = np.nonzero(part[1:] != part[:-1])
        if len(rows):
            changes = table[changed, part[rows + 1, changed]] - table[changed, part[rows, changed]]
            starts = np.flatnonzero(np.diff(rows, prepend=-1))
            sums[rows[starts] + 1] = np.add.reduceat(changes, starts, axis=0)
        np.cumsum(sums, axis=0, out=totals[first : first + len(part)])
    return totals


def key_of(ruleset: Ruleset, state: States) -> int:
    """Return the key of one state."""
    return int(keys_of(ruleset, state[np.newaxis])[0])


@lru_cache(maxsize=64)
def _table(family: str, images: tuple[Image, ...]) -> Keys:
    """Return the number that a symbol on a cell adds to the sum of an image, shape (cells, symbols, images).

    An empty cell adds 0.
    """
    cells, symbols = len(images[0].cells), len(images[0].symbols)
    seed = np.uint64(_number(family))
    numbers = _mix(np.arange(cells * symbols, dtype=np.uint64) * _STEP + seed).reshape(cells, symbols)
    numbers[:, 0] = 0
    table = np.stack([numbers[np.array(image.cells)][:, np.array(image.symbols)] for image in images], axis=2)
    table.setflags(write=False)
    return table


def _number(family: str, more: bytes = b"") -> int:
    """Return a 64-bit number derived from the name of a family and from further bytes."""
    return int.from_bytes(blake2b(more, digest_size=8, key=family.encode()).digest())


_CHUNK_ROWS = 2000
"""Rows summed at a time, which bounds the memory for the changes."""
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


def _mix(values: Keys) -> Keys:
    """Mix the bits so that every bit depends on every bit of the value: splitmix64 (Steele, Lea, Flood 2014)."""
    z = values + _STEP
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))
