"""Collections of games, in a file of their own beside the arena's database: kept, searched, counted.

They are nobody's results: no rating and no tournament knows them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    func,
    insert,
    or_,
    select,
)

from arena.data_folder import make_folder
from arena.store.archived_game import ArchivedGame
from arena.store.engine import Sessions, open_engine

FILE = "archive.sqlite3"

_TABLES = MetaData()
_GAMES = Table(
    "archive_game",
    _TABLES,
    Column("serial", Integer, primary_key=True),
    Column("id", String, unique=True, nullable=False),
    Column("family", String, nullable=False, index=True),
    Column("variant", String, nullable=False),
    Column("number", String, nullable=False, index=True),
    Column("first", String, nullable=False),
    Column("second", String, nullable=False),
    Column("winner", String),
    Column("termination", String, nullable=False),
    Column("source", String, nullable=False),
    Column("moves", Text, nullable=False),
    Column("entry", Text, nullable=False),
)
_POSITIONS = Table(
    "archive_position",
    _TABLES,
    Column("key", LargeBinary(8), nullable=False),
    Column("serial", Integer, ForeignKey("archive_game.serial"), nullable=False),
    Index("archive_position_key", "key", "serial", unique=True),
)


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for; None or empty = anything. `player` is part of either name, `moves` the first moves in
    canonical text, `key` a position's `position_key`."""

    id: str | None = None
    family: str | None = None
    variant: str | None = None
    player: str | None = None
    first: str | None = None
    second: str | None = None
    number: str | None = None
    winner: str | None = None
    source: str | None = None
    moves: tuple[str, ...] = ()
    key: bytes | None = None


class Archive:
    """The archive of a data folder."""

    def __init__(self, folder: Path) -> None:
        make_folder(folder, is_passage=True)
        self.engine = open_engine(f"sqlite:///{(folder / FILE).resolve()}")
        self._sessions = Sessions(self.engine)
        _TABLES.create_all(self._sessions.writer)

    def close(self) -> None:
        """Give the file back."""
        self.engine.dispose()

    def add(self, games: Iterable[ArchivedGame]) -> int:
        """Keep games, all or none; how many of them were new. A game without a number gets its place as one."""
        added = 0
        with self._sessions.writing() as session:
            serial = session.scalar(select(func.max(_GAMES.c.serial))) or 0
            for game in games:
                if session.scalar(select(_GAMES.c.serial).where(_GAMES.c.id == game.id)) is not None:
                    continue
                serial, added = serial + 1, added + 1
                session.execute(insert(_GAMES).values(**_row(game, serial)))
                session.execute(insert(_POSITIONS), [{"key": key, "serial": serial} for key in sorted(game.keys())])
        return added

    def find(self, search: Search, *, limit: int | None = None, offset: int = 0) -> list[ArchivedGame]:
        """The games that match, in the order they were added."""
        query = select(_GAMES.c.entry, _GAMES.c.number).where(*_conditions(search)).order_by(_GAMES.c.serial)
        with self._sessions.reading() as session:
            rows = session.execute(query.limit(limit).offset(offset)).all()
        return [_game(text, number) for text, number in rows]

    def count(self, search: Search) -> int:
        """How many games match."""
        with self._sessions.reading() as session:
            return session.scalar(select(func.count()).select_from(_GAMES).where(*_conditions(search))) or 0

    def sources(self) -> list[tuple[str, str, str, int]]:
        """(source, family, variant, games) of all there is."""
        columns = (_GAMES.c.source, _GAMES.c.family, _GAMES.c.variant)
        query = select(*columns, func.count()).group_by(*columns).order_by(*columns)
        with self._sessions.reading() as session:
            return [(row[0], row[1], row[2], row[3]) for row in session.execute(query)]

    def names(self, column: str) -> tuple[str, ...]:
        """The different values of a column (`family`, `variant`, `source`, `first`, `second`), to suggest near ones."""
        with self._sessions.reading() as session:
            return tuple(session.scalars(select(_GAMES.c[column]).distinct().order_by(_GAMES.c[column])))


def _row(game: ArchivedGame, serial: int) -> dict[str, Any]:
    return {
        "serial": serial,
        "id": game.id,
        "family": game.family,
        "variant": game.variant,
        "number": game.number or str(serial),
        "first": game.first,
        "second": game.second,
        "winner": game.winner,
        "termination": game.termination,
        "source": game.source,
        "moves": " ".join(game.moves) + " ",
        "entry": json.dumps(asdict(game), ensure_ascii=False),
    }


def _game(text: str, number: str) -> ArchivedGame:
    data = json.loads(text)
    return ArchivedGame(**{**data, "moves": tuple(data["moves"]), "number": number})


def _conditions(search: Search) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    for name in ("id", "family", "variant", "number", "winner", "source"):
        value = getattr(search, name)
        if value:
            found.append(_GAMES.c[name] == value)
    for name in ("first", "second"):
        value = getattr(search, name)
        if value:
            found.append(_GAMES.c[name].icontains(value, autoescape=True))
    if search.player:
        columns = (_GAMES.c.first, _GAMES.c.second)
        found.append(or_(*(column.icontains(search.player, autoescape=True) for column in columns)))
    if search.moves:
        found.append(_GAMES.c.moves.startswith(" ".join(search.moves) + " ", autoescape=True))
    if search.key is not None:
        found.append(_GAMES.c.serial.in_(select(_POSITIONS.c.serial).where(_POSITIONS.c.key == search.key)))
    return found
