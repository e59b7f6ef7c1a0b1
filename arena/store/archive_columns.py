"""What games of the archive are searched by, in memory: a few numbers a game, so that any filters, counts and orders
take milliseconds in a million games. Follows the tables; refuses to know positions.

A game's place is its serial less one. Serials are given without a gap in the order of commits and rows do not change,
so what is new stands behind what is known. (`generation` says when that does not hold: then all is read anew.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import bindparam, select
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


_GENERATION = select(col(Counter.value)).where(col(Counter.name) == GENERATION)
_NAMES = select(col(ArchiveName.id), col(ArchiveName.kind), col(ArchiveName.name)).where(
    col(ArchiveName.id) > bindparam("after")
)
_ROWS = (
    select(col(ArchiveGame.serial), col(ArchiveGame.is_withdrawn), *map(col, _READ.values()))
    .where(col(ArchiveGame.serial) > bindparam("after"))
    .order_by(col(ArchiveGame.serial))
)


class Names:
    """The words of one kind, by number."""

    def __init__(self) -> None:
        self.by_number: dict[int, str] = {}
        self._folded: dict[int, str] = {}

    def add(self, number: int, name: str) -> None:
        """One more."""
        self.by_number[number], self._folded[number] = name, name.casefold()

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
            rows = session.execute(_ROWS, {"after": self._count}, execution_options={"yield_per": 50_000})
            for part in rows.partitions():
                self._take(part)
            end, orders = self._count, self._orders
            columns = {name: block[:end] for name, block in self._blocks.items()}
            return View(end, self._is_in[:end], columns, self._names, lambda name: self._order(name, columns, orders))

    def _take(self, rows: Sequence[Any]) -> None:
        table = np.array([tuple(row) for row in rows], dtype=np.int64)
        end = int(table[-1, 0])
        if end > len(self._is_in):
            self._is_in = _grown(self._is_in, 2 * end)
            self._blocks = {name: _grown(block, 2 * end) for name, block in self._blocks.items()}
        places = table[:, 0] - 1
        self._is_in[places] = table[:, 1] == 0
        for number, name in enumerate(COLUMNS, 2):
            self._blocks[name][places] = table[:, number]
        self._count, self._orders = end, {}

    def _order(self, name: str, columns: Mapping[str, Numbers], orders: dict[str, Numbers]) -> Numbers:
        with self._lock:
            if name not in orders:
                orders[name] = np.argsort(columns[name], kind="stable").astype(np.int32)
            return orders[name]


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
