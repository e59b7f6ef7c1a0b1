"""Insertion of games into the archive: rows, names, serials and positions, and the imports of texts that bring them.

A text is stored when it is uploaded, and read portion by portion. The games of a portion and the progress of its import
are one transaction: whenever a process dies, the next one continues after the last portion, and no game is stored or
counted twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from typing import Any, cast

import numpy as np
import zstandard
from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.archive import ImportResponse, ImportState, RejectedGame
from arena.errors import NotFoundError, QuotaError
from arena.store.archive import positions
from arena.store.archive.archived_game import WINNERS, ArchivedGame, entries_of
from arena.store.archive.positions import PositionEntries, joined
from arena.store.base.engine import Repository, batched, table_of
from arena.store.base.tables.archive import ArchiveGame, ArchiveName, ArchiveText, StoredImport
from arena.store.base.tables.games import Game
from arena.store.base.tables.operations import Counter

SERIAL_COUNTER = "archive"
"""Name of the counter with the last serial assigned."""


@dataclass(frozen=True, slots=True)
class NewArchivedGame:
    """A game to archive, with its index entries; `text` is None for a game played here, which has a record."""

    game: ArchivedGame
    entries: PositionEntries = field(default_factory=lambda: joined([]))
    text: bytes | None = None


def indexed(games: Sequence[ArchivedGame]) -> list[NewArchivedGame]:
    """Return imported games with their index entries and stored texts."""
    if not games:
        return []
    return [NewArchivedGame(game, mine, packed(game)) for game, mine in zip(games, entries_of(games), strict=True)]


def packed(game: ArchivedGame) -> bytes:
    """Serialise an imported game as it is stored."""
    data = {one.name: getattr(game, one.name) for one in fields(game) if one.name != "serial"}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return zstandard.ZstdCompressor(level=6).compress(text.encode())


def known(session: Session, ids: Sequence[str]) -> set[str]:
    return set(session.scalars(select(col(ArchiveGame.game_id)).where(col(ArchiveGame.game_id).in_(ids))))


def insert_games(session: Session, games: Sequence[NewArchivedGame]) -> int:
    """Insert new games with the next serials, their texts and positions; return how many.

    Games that were inserted meanwhile are skipped.
    """
    # Locks the counter before anything is read: no other process inserts the same games meanwhile.
    last = advance(session, SERIAL_COUNTER, 0)
    there = known(session, [new.game.id for new in games])
    games = [new for new in games if new.game.id not in there]
    if not games:
        return 0
    advance(session, SERIAL_COUNTER, len(games))
    words = [_shared_names(new.game, pool) for new, pool in zip(games, _pools(session, games), strict=True)]
    ids = _name_ids(session, {(kind, name) for mine in words for _, kind, name in mine})
    serials = range(last + 1, last + 1 + len(games))
    rows = [
        _row(new.game, serial) | {column: ids[kind, name] for column, kind, name in mine}
        for serial, new, mine in zip(serials, games, words, strict=True)
    ]
    session.execute(insert(table_of(ArchiveGame)), rows)
    texts = [{"serial": n, "data": new.text} for n, new in zip(serials, games, strict=True) if new.text is not None]
    if texts:
        session.execute(insert(table_of(ArchiveText)), texts)
    add_positions(session, serials[0], serials[-1], {n: new.entries for n, new in zip(serials, games, strict=True)})
    return len(games)


def _row(game: ArchivedGame, serial: int) -> dict[str, Any]:
    return {
        "serial": serial,
        "game_id": game.id,
        "label": game.number[:80],
        "winner": WINNERS.index(game.winner),
        "plies": game.plies,
        "day": game.day,
    }


def _shared_names(game: ArchivedGame, pool: str) -> tuple[tuple[str, str, str], ...]:
    """Return (column, kind, name) for each property of a game whose name is stored once for all games."""
    return (
        ("variant_id", "variant", f"{game.family} {game.variant}"),
        ("first_id", "player", game.first),
        ("second_id", "player", game.second),
        ("termination_id", "termination", game.termination),
        ("source_id", "source", game.source),
        ("pool_id", "pool", pool),
    )


def _pools(session: Session, games: Sequence[NewArchivedGame]) -> list[str]:
    """Return the rating pool of each game; empty for an imported game."""
    played = [new.game.id for new in games if new.text is None]
    pools: dict[str, str] = {}
    for ids in batched(played):
        query = select(col(Game.id), col(Game.pool)).where(col(Game.id).in_(ids))
        pools.update((game_id, pool) for game_id, pool in session.execute(query))
    return [pools.get(new.game.id, "") for new in games]


def _name_ids(session: Session, required: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    columns = (col(ArchiveName.kind), col(ArchiveName.name), col(ArchiveName.id))

    def numbers() -> dict[tuple[str, str], int]:
        rows = [
            row
            for names in batched(sorted({name for _, name in required}))
            for row in session.execute(select(*columns).where(columns[1].in_(names)))
        ]
        return {(row[0], row[1]): row[2] or 0 for row in rows}

    if missing := sorted(required - numbers().keys()):
        lines = [{"kind": kind, "name": name, "folded": name.casefold()} for kind, name in missing]
        session.execute(insert(table_of(ArchiveName)), lines)
    return numbers()


def add_positions(session: Session, first: int, last: int, entries: Mapping[int, PositionEntries]) -> None:
    """Add games with serials from `first` to `last` to the position index.

    The caller holds the counter of serials, so that no other process adds games meanwhile.
    """
    counts = [len(game.keys) for game in entries.values()]
    whole = joined(list(entries.values()))
    serials = np.repeat(np.array(list(entries), dtype=np.int64), counts)
    positions.add(session, first, last, PositionEntries(whole.keys, serials, whole.tags))


def withdraw(session: Session, ids: Iterable[str]) -> None:
    """Delete the rows of these games, whose results were undone, so that the repeated games can use their ids."""
    serials = list(session.scalars(select(col(ArchiveGame.serial)).where(col(ArchiveGame.game_id).in_(ids))))
    session.execute(delete(ArchiveText).where(col(ArchiveText.serial).in_(serials)))
    session.execute(delete(ArchiveGame).where(col(ArchiveGame.serial).in_(serials)))


def counter(session: Session, name: str) -> int:
    """Return the value of a counter, 0 if it does not exist."""
    return session.scalar(select(col(Counter.value)).where(col(Counter.name) == name)) or 0


def advance(session: Session, name: str, by: int) -> int:
    """Add to a counter and return its new value. Its row stays locked until the end of the transaction."""
    value = col(Counter.value)
    change = update(Counter).where(col(Counter.name) == name).values(value=value + by).returning(value)
    total = session.scalar(change)
    if total is None:
        with suppress(IntegrityError), session.begin_nested():  # another process may insert it at the same moment
            session.execute(insert(table_of(Counter)), [{"name": name, "value": 0}])
        total = session.scalar(change)
    assert total is not None
    return total


def set_counter(session: Session, name: str, value: int) -> None:
    session.execute(update(Counter).where(col(Counter.name) == name).values(value=value))


MAX_WAITING_PER_USER = 5
"""Maximum number of a user's imports that are not over."""
MAX_WAITING = 20
"""Maximum number of imports that are not over."""
MAX_REJECTED = 1000
"""Rejected games of an import that are listed; the others are counted only."""
_waits = col(StoredImport.state) == "waiting"


class Imports(Repository):
    """Texts that are being imported, each with its progress and its rejected games."""

    def add(self, row: StoredImport, text: str) -> int:
        """Store an import that waits to be read; return its number. Raises QuotaError."""
        row.text = zstandard.ZstdCompressor(level=6).compress(text.encode())
        waiting = select(func.count()).select_from(StoredImport).where(_waits)
        mine = waiting.where(col(StoredImport.created_by) == row.created_by)
        with self._sessions.writing() as session:
            if (session.scalar(mine) or 0) >= MAX_WAITING_PER_USER:
                raise QuotaError(
                    f"{MAX_WAITING_PER_USER} of your imports are being read", hint="wait until one is finished"
                )
            if (session.scalar(waiting) or 0) >= MAX_WAITING:
                raise QuotaError(f"{MAX_WAITING} imports are being read", hint="try again later")
            session.add(row)
            session.flush()
            return row.id

    def get(self, number: int) -> ImportResponse:
        """Return the progress of an import. Raises NotFoundError."""
        with self._sessions.reading() as session:
            row = session.get(StoredImport, number)
        if row is None:
            raise NotFoundError("import", number)
        return _response(row)

    def latest(self, limit: int) -> list[ImportResponse]:
        """Return the latest imports, latest first."""
        with self._sessions.reading() as session:
            rows = list(session.scalars(select(StoredImport).order_by(col(StoredImport.id).desc()).limit(limit)))
        return [_response(row) for row in rows]

    def next_waiting(self) -> tuple[StoredImport, str] | None:
        """Return the oldest import that is not over, and its text."""
        with self._sessions.reading() as session:
            row = session.scalar(select(StoredImport).where(_waits).order_by(col(StoredImport.id)).limit(1))
        return None if row is None else (row, zstandard.ZstdDecompressor().decompress(row.text).decode())

    def advance(
        self,
        seen: StoredImport,
        games: Sequence[NewArchivedGame],
        rejected: Sequence[RejectedGame],
        format: str,
        end: int,
    ) -> None:
        """Store the games of the next portion, and the progress up to the line `end`.

        `seen` is the import as it was before the portion was read. Does nothing if another process has advanced the
        import since then.
        """
        unique = list({new.game.id: new for new in games}.values())
        with self._sessions.writing() as session:
            row = session.get(StoredImport, seen.id, with_for_update=True)
            if row is None or row.state != "waiting" or row.read != seen.read:
                return
            row.new += sum(insert_games(session, portion) for portion in batched(unique))
            row.games += len(games)
            row.rejected += len(rejected)
            row.bad = [*row.bad, *map(asdict, rejected[: MAX_REJECTED - len(row.bad)])]
            row.notation, row.read = format, end
            if end >= row.lines:
                row.state, row.text = "done", b""

    def fail(self, number: int, problem: str) -> None:
        """End an import that cannot be read further; the games of its earlier portions stay."""
        with self._sessions.writing() as session:
            row = session.get(StoredImport, number, with_for_update=True)
            if row is not None and row.state == "waiting":
                row.state, row.problem, row.text = "failed", problem, b""


def _response(row: StoredImport) -> ImportResponse:
    return ImportResponse(
        id=row.id,
        state=cast(ImportState, row.state),
        file=row.source,
        format=row.notation,
        lines=row.lines,
        read=row.read,
        games=row.games,
        new=row.new,
        known=row.games - row.new,
        rejected=row.rejected,
        bad=[RejectedGame(**game) for game in row.bad],
        problem=row.problem,
        created_at=row.created_at,
    )
