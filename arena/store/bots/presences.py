"""Connection state of remote bots, reported periodically by the process they are connected to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Protocol

from sqlalchemy import select
from sqlmodel import col

from arena.clock import now
from arena.documents.attributes import of_attributes
from arena.documents.bot import PresenceItem
from arena.store.base.engine import Sessions
from arena.store.base.models import RemotePresence

REPORT_INTERVAL_S = 15.0
"""How often the process that has the connections reports them."""
_STALE = timedelta(seconds=3 * REPORT_INTERVAL_S)
"""Age after which a report is ignored: the reporting process is gone."""


class PresenceReport(Protocol):
    """The reported state of a connected version."""

    @property
    def games(self) -> int: ...
    @property
    def most_games(self) -> int: ...
    @property
    def latency_ms(self) -> float | None: ...
    @property
    def is_open(self) -> bool: ...


class Presences:
    """Connection states by version."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def report(self, present: Mapping[int, PresenceReport]) -> None:
        """Store that these versions, and no others, are connected."""
        at = now()
        with self._sessions.writing() as session:
            known = {row.version_id: row for row in session.scalars(select(RemotePresence))}
            for version_id, one in present.items():
                row = known.pop(version_id, None) or RemotePresence(version_id=version_id, seen=at)
                row.is_connected, row.seen, row.games, row.most_games = True, at, one.games, one.most_games
                row.latency_ms, row.is_open = one.latency_ms, one.is_open
                session.add(row)
            for row in known.values():
                if row.is_connected:
                    row.is_connected, row.games = False, 0

    def of(self, version_ids: Sequence[int]) -> dict[int, PresenceItem]:
        """Return the states of these versions; versions that never connected are omitted."""
        at = now()
        with self._sessions.reading() as session:
            rows = list(session.scalars(select(RemotePresence).where(col(RemotePresence.version_id).in_(version_ids))))
        return {
            row.version_id: of_attributes(PresenceItem, row, is_connected=row.is_connected and at - row.seen < _STALE)
            for row in rows
        }
