"""The audit log: who did what to which subject. Entries are never deleted, except refused log-ins."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Select, select
from sqlmodel import col

from arena.documents.account import AuditItem
from arena.documents.query import PageResponse
from arena.documents.service import AuditQuery
from arena.store.base.engine import Repository, fetch
from arena.store.base.page import DEFAULT_LIMIT, bounded, cut, read_cursor
from arena.store.base.tables.operations import Audit
from arena.store.base.tables.people import User

QUARANTINED, VERIFIED = "worker.shut-out", "worker.verified"
"""Start and end of a worker's verification. A coordinator completes what its predecessor left unfinished."""
THROTTLED = "worker.throttled"
"""Action for a worker that was quarantined for being slow; its results stay."""


_ENTRIES = select(
    *(col(one) for one in (Audit.id, Audit.logged_at, Audit.action, Audit.subject, Audit.detail)),
    col(User.name).label("user"),
).join(User, col(User.id) == col(Audit.user_id), isouter=True)
_ALL = AuditQuery()


class AuditLog(Repository):
    """The audit log; every use case that changes something writes to it."""

    def note(self, action: str, subject: str, user_id: int | None = None, **detail: Any) -> None:
        """Append an entry, such as `note("bot.retire", "bot:zeta", 3)`."""
        with self._sessions.writing() as session:
            session.add(Audit(action=action[:40], subject=subject[:120], user_id=user_id, detail=detail))

    def page(self, query: AuditQuery = _ALL) -> PageResponse[AuditItem]:
        """Return entries, latest first: all, or those with the query's subject and user."""
        limit = bounded(query.limit)
        rows = _ENTRIES.order_by(col(Audit.id).desc()).limit(limit + 1)
        if query.subject is not None:
            rows = rows.where(col(Audit.subject) == query.subject)
        if query.user is not None:
            mine = select(col(User.id)).where(col(User.name) == query.user).scalar_subquery()
            rows = rows.where(col(Audit.user_id) == mine)
        if keys := read_cursor(query.after, int):
            rows = rows.where(col(Audit.id) < keys[0])
        return cut(self._items(rows), limit, lambda line: (line.id,))

    def since(self, at: datetime, *actions: str) -> list[AuditItem]:
        """Return the entries of these actions since the time `at`, latest first, at most one page."""
        query = _ENTRIES.where(col(Audit.logged_at) >= at, col(Audit.action).in_(actions))
        return self._items(query.order_by(col(Audit.id).desc()).limit(DEFAULT_LIMIT))

    def unfinished(self, begun: str, ended: str) -> list[AuditItem]:
        """Return the latest `begun` entry of each subject without a later `ended` entry."""
        found = self._items(_ENTRIES.where(col(Audit.action).in_((begun, ended))).order_by(col(Audit.id)))
        return [one for one in {one.subject: one for one in found}.values() if one.action == begun]

    def _items(self, query: Select[*tuple[Any, ...]]) -> list[AuditItem]:
        with self._sessions.reading() as session:
            return [
                AuditItem(
                    id=row.id,
                    logged_at=row.logged_at,
                    user=row.user,
                    action=row.action,
                    subject=row.subject,
                    detail=row.detail,
                )
                for row in fetch(session, query)
            ]
