"""Imports of texts into the archive: stored when they are uploaded, and advanced portion by portion.

The games of a portion and the progress of its import are one transaction: whenever a process dies, the next one
continues after the last portion, and no game is stored or counted twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import cast

import zstandard
from sqlalchemy import func, select
from sqlmodel import col

from arena.documents.archive import ImportResponse, ImportState, RejectedGame
from arena.errors import NotFoundError, QuotaError
from arena.store.archive.entry import NewArchivedGame, insert_games
from arena.store.base.engine import Sessions, batched
from arena.store.base.models import StoredImport

MAX_WAITING_PER_USER = 5
"""Maximum number of a user's imports that are not over."""
MAX_WAITING = 20
"""Maximum number of imports that are not over."""
MAX_REJECTED = 1000
"""Rejected games of an import that are listed; the others are counted only."""
_waits = col(StoredImport.state) == "waiting"


class Imports:
    """Imports by number."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

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
            return row.id or 0

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
        id=row.id or 0,
        state=cast(ImportState, row.state),
        file=row.source,
        format=row.notation,
        lines=row.lines,
        read=row.read,
        games=row.games,
        new=row.new,
        known=row.games - row.new,
        rejected=row.rejected,
        bad=[RejectedGame(**one) for one in row.bad],
        problem=row.problem,
        created_at=row.created_at,
    )
