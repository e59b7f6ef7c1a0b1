"""The index of all games: names, searchable properties, positions, and the texts of imported games."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Index, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.store.base.fields import blob, created, document, number


class ArchiveName(SQLModel, table=True):
    """A name to which archived games refer.

    `kind` is `player`, `variant` (`loa standard`), `termination`, `source` or `pool` (of ratings). `folded` is the
    case-folded name, for searches by part of it.
    """

    __tablename__ = "archive_names"
    __table_args__ = (UniqueConstraint("kind", "name"),)
    id: int = number()
    kind: str = Field(max_length=16)
    name: str = Field(sa_column=Column(Text, nullable=False))
    folded: str = Field(sa_column=Column(Text, nullable=False))


_SEARCHED = ("variant_id", "first_id", "second_id", "termination_id", "source_id", "winner", "plies", "day")


def _covering(*first: str) -> Index:
    """Create an index on these columns followed by all other searched columns, so that filters read only the index."""
    rest = [name for name in _SEARCHED if name not in first]
    return Index(f"ix_archive_games_{first[0]}", *first, *rest)


class ArchiveGame(SQLModel, table=True):
    """The searchable properties of an archived game, imported or played here, with a permanent serial from 1.

    `game_id` is the id of a game played here, else the digest of its content. `label` is its number in its collection,
    if any. Columns that end in `_id` refer to `archive_names`; the pool of an imported game is empty. `winner` is 0
    unknown, 1 first, 2 second, 3 draw. `day` is a number such as 20260731, with zeros for unknown parts. The row of
    an undone result is deleted, and its serial is not reused.
    """

    __tablename__ = "archive_games"
    __table_args__ = (
        _covering("first_id"),
        _covering("second_id"),
        _covering("variant_id"),
        _covering("source_id", "variant_id"),
        _covering("day", "serial"),
        _covering("plies", "serial"),
    )
    serial: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    game_id: str = Field(unique=True, max_length=40)
    label: str = Field(default="", max_length=80, index=True)
    variant_id: int
    first_id: int
    second_id: int
    termination_id: int
    source_id: int
    pool_id: int
    winner: int
    plies: int
    day: int


class ArchiveText(SQLModel, table=True):
    """An imported game: compressed JSON of an `ArchivedGame`. Games played here have a record instead."""

    __tablename__ = "archive_texts"
    serial: int = Field(primary_key=True, foreign_key="archive_games.serial", sa_column_kwargs={"autoincrement": False})
    data: bytes = blob()


class StoredImport(SQLModel, table=True):
    """An import of a text, read portion by portion. `state` is `waiting`, then `done`, or `failed`: the
    field `problem` says why.

    `text` is compressed; it is emptied at the end of the import. `lines` is the number of its lines, `read` the number
    of those that were read. `games` counts valid games, `new` those that were not in the archive, `rejected` invalid
    games; `bad` lists the first invalid ones.
    """

    __tablename__ = "imports"
    id: int = number()
    source: str = Field(max_length=80)
    family: str = Field(max_length=32)
    variant: str = Field(max_length=120)
    notation: str = Field(default="", max_length=40)
    text: bytes = blob(b"")
    state: str = Field(default="waiting", max_length=8, index=True)
    problem: str = ""
    lines: int
    read: int = 0
    games: int = 0
    new: int = 0
    rejected: int = 0
    bad: list[dict[str, Any]] = document(list)
    created_by: int | None = Field(default=None, foreign_key="users.id", index=True)
    created_at: datetime = created(index=True)


class ArchivePart(SQLModel, table=True):
    """Positions of the games with serials `first` to `last`, in 2**`bits` buckets (see
    `arena.store.archive.positions`).
    """

    __tablename__ = "archive_parts"
    id: int = number()
    first: int
    last: int
    bits: int
    entries: int


class ArchivePosition(SQLModel, table=True):
    """A bucket of a part: its entries sorted by key, compressed."""

    __tablename__ = "archive_positions"
    part_id: int = Field(primary_key=True, foreign_key="archive_parts.id")
    bucket: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    data: bytes = blob()
