"""What the house keeps for itself: leases, the audit log, answers to repeated requests, its daily chores."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.store.engine import Sessions
from arena.store.models import Answer, Audit, Counter, Lease, Login, now
from arena.store.page import DEFAULT_LIMIT, Page, bounded, cut, read_cursor

ANSWERS_KEPT = timedelta(hours=24)
"""How long the answer to a request with an idempotency key is given again."""
REFUSED_KEPT = timedelta(days=90)
"""How long refused log-ins stay in the audit log: anybody can make them."""


class House:
    """Leases, audit, answers, chores."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    # -- leases: who may act alone -----------------------------------------------------------------------------------

    def take(self, name: str, owner: str, seconds: float, at: datetime | None = None) -> bool:
        """Take or renew a lease for `seconds`; False while somebody else owns it.

        Deadlines are compared by the clocks of the owners: machines that share a database keep the time.
        """
        at = at or now()
        until = at + timedelta(seconds=seconds)
        is_free = (col(Lease.owner) == owner) | (col(Lease.until) <= at)
        with self._sessions.writing() as session:
            found = session.execute(
                update(Lease).where(col(Lease.name) == name, is_free).values(owner=owner, until=until)
            )
            if found.rowcount:  # type: ignore[attr-defined]
                return True
            if session.get(Lease, name) is not None:
                return False
        try:
            with self._sessions.writing() as session:
                session.add(Lease(name=name, owner=owner, until=until))
        except IntegrityError:
            return False  # somebody was faster
        return True

    def release(self, name: str, owner: str) -> None:
        """Give a lease up, if it is still owned."""
        with self._sessions.writing() as session:
            session.execute(delete(Lease).where(col(Lease.name) == name, col(Lease.owner) == owner))

    def lease(self, name: str) -> Lease | None:
        """Who owns or owned a lease, and until when."""
        with self._sessions.reading() as session:
            return session.get(Lease, name)

    # -- audit -------------------------------------------------------------------------------------------------------

    def note(self, action: str, subject: str, user_id: int | None = None, **detail: Any) -> None:
        """Write down who did what to what: `note("bot.retire", "bot:zeta", 3)`."""
        with self._sessions.writing() as session:
            session.add(Audit(action=action[:40], subject=subject[:120], user_id=user_id, detail=detail))

    def audit(
        self,
        *,
        subject: str | None = None,
        user_id: int | None = None,
        limit: int = DEFAULT_LIMIT,
        after: str | None = None,
    ) -> Page[Audit]:
        """What was done, latest first: all, to one subject, or by one user."""
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

    # -- answers to repeated requests --------------------------------------------------------------------------------

    def begin_answer(self, user_id: int, key: str, route: str, digest: str) -> Answer | None:
        """Reserve an idempotency key; what is stored under it already, if anything.

        `status` 0 means that the first request is still at work. The caller compares `route` and `digest`.
        """
        with self._sessions.writing() as session:
            session.execute(delete(Answer).where(col(Answer.created) < now() - ANSWERS_KEPT))
        try:
            with self._sessions.writing() as session:
                session.add(Answer(user_id=user_id, key=key, route=route, digest=digest, status=0))
        except IntegrityError:
            with self._sessions.reading() as session:
                return session.get(Answer, (user_id, key))
        return None

    def end_answer(self, user_id: int, key: str, status: int, body: Mapping[str, Any]) -> None:
        """Keep what was answered."""
        with self._sessions.writing() as session:
            mine = (col(Answer.user_id) == user_id, col(Answer.key) == key)
            session.execute(update(Answer).where(*mine).values(status=status, body=dict(body)))

    def drop_answer(self, user_id: int, key: str) -> None:
        """Forget a key whose request came to nothing: it may be sent again."""
        with self._sessions.writing() as session:
            session.execute(delete(Answer).where(col(Answer.user_id) == user_id, col(Answer.key) == key))

    # -- chores ------------------------------------------------------------------------------------------------------

    def chore_done(self, chore: str) -> int:
        """The number of the day (`date.toordinal`) for which a chore was last done; 0 if never."""
        with self._sessions.reading() as session:
            row = session.get(Counter, _name(chore))
            return row.value if row else 0

    def do_chore(self, chore: str, day: int) -> bool:
        """Note that a chore is done for a day; False when somebody had noted it before."""
        mine = (col(Counter.name) == _name(chore), col(Counter.value) < day)
        with self._sessions.writing() as session:
            if session.execute(update(Counter).where(*mine).values(value=day)).rowcount:  # type: ignore[attr-defined]
                return True
            if session.get(Counter, _name(chore)) is not None:
                return False
        try:
            with self._sessions.writing() as session:
                session.add(Counter(name=_name(chore), value=day))
        except IntegrityError:
            return False  # somebody was faster
        return True

    def forget(self, at: datetime | None = None) -> int:
        """Remove what is worth nothing any more: sessions that are over, old answers, old refusals. How many rows."""
        at = at or now()
        old = (
            delete(Login).where(col(Login.expires) <= at),
            delete(Answer).where(col(Answer.created) < at - ANSWERS_KEPT),
            delete(Audit).where(col(Audit.action) == "login.refused", col(Audit.at) < at - REFUSED_KEPT),
        )
        with self._sessions.writing() as session:
            return sum(session.execute(query).rowcount for query in old)  # type: ignore[attr-defined]


def _name(chore: str) -> str:
    """A chore as the name of a counter."""
    return f"chore {chore}"[:32]
