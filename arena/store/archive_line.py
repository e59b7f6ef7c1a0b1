"""Games of the archive as they are read: a line for a list, or the whole game, imported or played here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import zstandard
from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store.archive_columns import WINNERS, View
from arena.store.archived_game import HERE, ArchivedGame, of_record
from arena.store.commit import unpack
from arena.store.engine import BATCH
from arena.store.models import ArchiveGame, ArchiveText, Record


@dataclass(frozen=True, slots=True)
class ArchiveLine:
    """A game in a list. `number` is what people call it: the one in its collection, else its serial."""

    serial: int
    id: str
    label: str
    family: str
    variant: str
    first: str
    second: str
    winner: str | None
    termination: str
    source: str
    plies: int
    day: int

    @property
    def number(self) -> str:
        """The number in its collection, else the one in the archive."""
        return self.label or str(self.serial)

    @property
    def is_played_here(self) -> bool:
        """Whether the arena has a record of it."""
        return self.source == HERE

    @property
    def date(self) -> str:
        """When it was played, as far as that is known: `2003-07`."""
        parts = (f"{self.day // 10_000:04}", f"{self.day // 100 % 100:02}", f"{self.day % 100:02}")
        return "-".join(part for part in parts if int(part))


def lines_of(session: Session, view: View, places: Sequence[int]) -> list[ArchiveLine]:
    """The games at these places of the columns, in this order."""
    query = select(col(ArchiveGame.serial), col(ArchiveGame.game_id), col(ArchiveGame.label))
    rows = session.execute(query.where(col(ArchiveGame.serial).in_([place + 1 for place in places]))).all()
    known = {row.serial: row for row in rows}
    return [line_at(view, place, known[place + 1]) for place in places if place + 1 in known]


def line_at(view: View, place: int, row: Any = None) -> ArchiveLine:
    """The game at a place of the columns; the row has its id and label."""
    numbers = {name: int(column[place]) for name, column in view.columns.items()}

    def word(kind: str, column: str) -> str:
        return view.names[kind].by_number[numbers[column]]

    family, _, variant = word("variant", "variant_id").partition(" ")
    return ArchiveLine(
        serial=place + 1,
        id=row.game_id if row else "",
        label=row.label if row else "",
        family=family,
        variant=variant,
        first=word("player", "first_id"),
        second=word("player", "second_id"),
        winner=WINNERS[numbers["winner"]],
        termination=word("termination", "termination_id"),
        source=word("source", "source_id"),
        plies=numbers["plies"],
        day=numbers["day"],
    )


def games_of(session: Session, serials: Sequence[int]) -> list[ArchivedGame]:
    """Whole games, in this order; those that are not there are left out."""
    found: dict[int, ArchivedGame] = {}
    for start in range(0, len(serials), BATCH):
        portion = serials[start : start + BATCH]
        query = (
            select(col(ArchiveGame.serial), col(ArchiveGame.label), col(ArchiveText.data), col(Record.data))
            .outerjoin(ArchiveText, col(ArchiveText.serial) == col(ArchiveGame.serial))
            .outerjoin(Record, col(Record.game_id) == col(ArchiveGame.game_id))
        )
        for serial, label, text, record in session.execute(query.where(col(ArchiveGame.serial).in_(portion))):
            if text:
                data = json.loads(zstandard.ZstdDecompressor().decompress(text))
                game = ArchivedGame(**{**data, "moves": tuple(data["moves"])})
            elif record:
                game = of_record(unpack(record))
            else:
                continue
            found[serial] = replace(game, serial=serial, number=label or str(serial))
    return [found[serial] for serial in serials if serial in found]
