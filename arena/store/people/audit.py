"""The audit log: who did what to which subject. Entries are never deleted, except refused log-ins."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from arena.documents.page import PageResponse
from arena.store.base.engine import Sessions
from arena.store.base.models import Audit
from arena.store.base.page import DEFAULT_LIMIT, bounded, cut, read_cursor

QUARANTINED, VERIFIED = "worker.shut-out", "worker.verified"
"""Start and end of a worker's verification. A coordinator completes what its predecessor left unfinished."""
THROTTLED = "worker.throttled"
"""Action for a worker that was quarantined for being slow; its results stay."""


class AuditLog:
    """The audit log; every use case that changes something writes to it."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def note(self, action: str, subject: str, user_id: int | None = None, **detail: Any) -> None:
        """Append an entry, such as `note("bot.retire", "bot:zeta", 3)`."""
        with self._sessions.writing() as session:
            session.add(Audit(action=action[:40], subject=subject[:120], user_id=user_id, detail=detail))

    def page(
        self,
        *,
        subject: str | None = None,
        user_id: int | None = None,
        limit: int = DEFAULT_LIMIT,
        after: str | None = None,
    ) -> PageResponse[Audit]:
        """Return entries, latest first: all, those about one subject, or those by one user."""
        limit = bounded(limit)
        query = select(Audit).order_by(col(Audit.id).desc()).limit(limit + 1)
        if subject is not None:
            query = query.where(col(Audit.subject) == subject)
        if user_id is not None:
            query = query.where(col(Audit.user_id) == user_id)
        if keys := read_cursor(after, int):
            query = query.where(col(Audit.id) < keys[0])
        with self._sessions.reading() as session:
            return cut(session.scalars(query).all(), limit, lambda line: (line.id,))

    def since(self, at: datetime, *actions: str) -> list[Audit]:
        """Return the entries of these actions since then, latest first, at most one page."""
        query = select(Audit).where(col(Audit.logged_at) >= at, col(Audit.action).in_(actions))
        query = query.order_by(col(Audit.id).desc()).limit(DEFAULT_LIMIT)
        with self._sessions.reading() as session:
            return list(session.scalars(query))

    def unfinished(self, begun: str, ended: str) -> list[Audit]:
        """Return the latest `begun` entry of each subject without a later `ended` entry."""
        query = select(Audit).where(col(Audit.action).in_((begun, ended))).order_by(col(Audit.id))
        latest: dict[str, Audit] = {}
        with self._sessions.reading() as session:
            for line in session.scalars(query):
                latest[line.subject] = line
        return [line for line in latest.values() if line.action == begun]
