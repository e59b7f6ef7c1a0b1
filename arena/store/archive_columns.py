"""What games of the archive are searched by, in memory: a few numbers a game, so that any filters, counts and orders
take milliseconds in a million games. Follows the tables; refuses to know positions.

A game's place is its serial less one. Serials are given without a gap in the order of commits and rows do not change,
so what is new stands behind what is known. (`generation` says when that does not hold: then all is read anew.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Integer, bindparam, select, type_coerce
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store.models import ArchiveGame, ArchiveName, Counter

GENERATION = "archive-generation"
"""The counter that grows when rows of the archive have changed."""
WINNERS = (None, "first", "second", "draw")
"""By the number in `ArchiveGame.winner`."""
_READ: Mapping[str, Any] = {
    "variant_id": ArchiveGame.variant_id,
    "first_id": ArchiveGame.first_id,
    "second_id": ArchiveGame.second_id,
    "termination_id": ArchiveGame.termination_id,
    "source_id": ArchiveGame.source_id,
    "winner": ArchiveGame.winner,
    "plies": ArchiveGame.plies,
    "day": ArchiveGame.day,
}
COLUMNS = tuple(_READ)
KINDS = ("player", "variant", "termination", "source")
"""Of words that games share."""

Numbers = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]


_AT_ONCE = 50_000
_GENERATION = select(col(Counter.value)).where(col(Counter.name) == GENERATION)
_NAMES = select(col(ArchiveName.id), col(ArchiveName.kind), col(ArchiveName.name)).where(
    col(ArchiveName.id) > bindparam("after")
)
_ROWS = (
    select(col(ArchiveGame.serial), type_coerce(ArchiveGame.is_withdrawn, Integer), *map(col, _READ.values()))
    .where(col(ArchiveGame.serial) > bindparam("after"))
    .order_by(col(ArchiveGame.serial))
    .limit(_AT_ONCE)
)


class Names:
    """The words of one kind, by number."""

    def __init__(self) -> None:
        self.by_number: dict[int, str] = {}
        self.by_name: dict[str, int] = {}
        self._folded: dict[int, str] = {}

    def add(self, number: int, name: str) -> None:
        """One more."""
        self.by_number[number], self._folded[number] = name, name.casefold()
        self.by_name[name] = number

    def numbers(self, accepts: Callable[[str], bool]) -> list[int]:
        """Those whose name is accepted."""
        return [number for number, name in list(self.by_number.items()) if accepts(name)]

    def containing(self, part: str) -> list[int]:
        """Those with a part in their name, whatever the case of letters."""
        folded = part.casefold()
        return [number for number, name in list(self._folded.items()) if folded in name]


@dataclass(frozen=True, slots=True)
class View:
    """The columns of all games there were at one moment, by place; `is_in` says which of them are to be found."""

    count: int
    is_in: Mask
    columns: Mapping[str, Numbers]
    names: Mapping[str, Names]
    order: Callable[[str], Numbers]
    """The places in the order of a column, games alike in it by place."""


class ArchiveColumns:
    """What is known of one database."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clear(0)

    def _clear(self, generation: int) -> None:
        self._generation = generation
        self._last_name = self._count = 0
        self._names = {kind: Names() for kind in KINDS}
        self._blocks: dict[str, Numbers] = {name: np.zeros(1024, np.int32) for name in COLUMNS}
        self._is_in = np.zeros(1024, np.bool_)
        self._orders: dict[str, Numbers] = {}

    def view(self, session: Session) -> View:
        """All there is, what is new being read before."""
        with self._lock:
            generation = session.scalar(_GENERATION) or 0
            if generation != self._generation:
                self._clear(generation)
            for number, kind, name in session.execute(_NAMES, {"after": self._last_name}):
                self._names[kind].add(number or 0, name)
                self._last_name = max(self._last_name, number or 0)
            while True:
                rows = (
                    session.connection().execute(_ROWS, {"after": self._count}).cursor.fetchall()
                )  # a million of them
                if not rows:
                    break
                self._take(rows)
            end = self._count
            columns = {name: block[:end] for name, block in self._blocks.items()}
            return View(end, self._is_in[:end], columns, self._names, lambda name: self._order(name, columns[name]))

    def _take(self, rows: Sequence[Any]) -> None:
        width = 2 + len(COLUMNS)
        table = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * width).reshape(-1, width)
        end = int(table[-1, 0])
        if end > len(self._is_in):
            self._is_in = _grown(self._is_in, 2 * end)
            self._blocks = {name: _grown(block, 2 * end) for name, block in self._blocks.items()}
        places = table[:, 0] - 1
        self._is_in[places] = table[:, 1] == 0
        for number, name in enumerate(COLUMNS, 2):
            self._blocks[name][places] = table[:, number]
        self._count = end

    def _order(self, name: str, column: Numbers) -> Numbers:
        """The order of a column, what is new put where it belongs."""
        with self._lock:
            known = self._orders.get(name, np.empty(0, np.int32))
            if len(known) < len(column):
                new = np.arange(len(known), len(column), dtype=np.int32)
                new = new[np.argsort(column[new], kind="stable")]
                places = np.searchsorted(column[known], column[new], side="right")
                self._orders[name] = known = np.insert(known, places, new)
            return known if len(known) == len(column) else known[known < len(column)]


def among(column: Numbers, numbers: Iterable[int], size: int) -> Mask:
    """Where a column has one of these numbers, all below `size`."""
    wanted = np.zeros(size, np.bool_)
    wanted[list(numbers)] = True
    found: Mask = wanted[column]
    return found


def _grown(block: npt.NDArray[Any], room: int) -> npt.NDArray[Any]:
    found = np.zeros(room, block.dtype)
    found[: len(block)] = block
    return found
