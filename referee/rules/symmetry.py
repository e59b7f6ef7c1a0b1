"""Positions up to the symmetries of their board: one 64-bit key for all images of a position.

A family says what stands on its cells and how its board maps onto itself without changing the rules (`Symmetry`); the
rest is here. Keys are kept in databases: what changes them for a family makes every index of positions void. Refuses to
know any family. Plain numpy, many positions at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from referee.rules.rules import Image, Ruleset, States

Keys: TypeAlias = npt.NDArray[np.uint64]


def images_of(
    places: Sequence[tuple[int, int]],
    maps: Iterable[Callable[[int, int], tuple[int, int]]],
    symbols: Iterable[Sequence[int]],
) -> tuple[Image, ...]:
    """An image for each of `maps` of the cells' places with each permutation of the symbols.

    Raises KeyError for a map that leaves the board.
    """
    numbers = {place: number for number, place in enumerate(places)}
    orders = [tuple(order) for order in symbols]
    cells = [tuple(numbers[move(x, y)] for x, y in places) for move in maps]
    return tuple(Image(one, order) for one in cells for order in orders)


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
"""The eight maps of a square around its centre."""


def bits_of(words: States) -> npt.NDArray[np.uint8]:
    """The 64 bits of each word, lowest first: a row of zeros and ones for each."""
    plain = np.ascontiguousarray(words, dtype="<u8" if words.dtype.kind == "u" else "<i8")
    return np.unpackbits(plain.view(np.uint8).reshape(len(words), 8), axis=1, bitorder="little")


def keys_of(ruleset: Ruleset, states: States) -> Keys:
    """The key of each state: equal for positions that are images of one another, and otherwise but by chance (2**-64).

    A family without a `Symmetry` compares positions as repetition does.
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
    """[row, image]: what the cells of each row add up to; of all rows but the first only what has changed is added.

    Positions that follow each other differ in few cells.
    """
    found = np.empty((len(contents), table.shape[2]), dtype=np.uint64)
    cells = np.arange(contents.shape[1])
    for first in range(0, len(contents), _TOGETHER):
        part = contents[first : first + _TOGETHER]
        sums = np.zeros((len(part), table.shape[2]), dtype=np.uint64)
        sums[0] = table[cells, part[0]].sum(axis=0)
        rows, changed = np.nonzero(part[1:] != part[:-1])
        if len(rows):
            changes = table[changed, part[rows + 1, changed]] - table[changed, part[rows, changed]]
            starts = np.flatnonzero(np.diff(rows, prepend=-1))
            sums[rows[starts] + 1] = np.add.reduceat(changes, starts, axis=0)
        np.cumsum(sums, axis=0, out=found[first : first + len(part)])
    return found


def key_of(ruleset: Ruleset, state: States) -> int:
    """The key of one state."""
    return int(keys_of(ruleset, state[np.newaxis])[0])


@lru_cache(maxsize=64)
def _table(family: str, images: tuple[Image, ...]) -> Keys:
    """[cell, symbol, image]: the number that a symbol on a cell adds to the sum of an image; 0 for nothing there."""
    cells, symbols = len(images[0].cells), len(images[0].symbols)
    seed = np.uint64(_number(family))
    numbers = _mix(np.arange(cells * symbols, dtype=np.uint64) * _STEP + seed).reshape(cells, symbols)
    numbers[:, 0] = 0
    found = np.stack([numbers[np.array(image.cells)][:, np.array(image.symbols)] for image in images], axis=2)
    found.setflags(write=False)
    return found


def _number(family: str, more: bytes = b"") -> int:
    """A number of 64 bits for a family and bytes."""
    return int.from_bytes(blake2b(more, digest_size=8, key=family.encode()).digest())


_TOGETHER = 2000
"""Rows whose sums are made at a time: changes take room."""
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


def _mix(values: Keys) -> Keys:
    """Every bit depends on every bit: splitmix64 (Steele, Lea, Flood 2014)."""
    z = values + _STEP
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))
