"""Secret links: invitations to create an account, and links to reset a password. Only their digests are stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlmodel import col

from arena.clock import now
from arena.store.base.engine import Sessions
from arena.store.base.models import AccountLink


@dataclass(frozen=True, slots=True)
class ValidLink:
    """A link that can still be used: the role of an invitation, or the user whose password it resets."""

    role: str
    user_id: int | None


class AccountLinks:
    """Account links, found by the digests of their secrets."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def add(self, digest: str, expires: datetime, *, user_id: int | None = None, role: str = "", uses: int = 1) -> None:
        """Store a link: one that resets the password of a user, or an invitation for a role."""
        with self._sessions.writing() as session:
            session.add(AccountLink(digest=digest, user_id=user_id, role=role, uses_left=uses, expires=expires))

    def find(self, digest: str) -> ValidLink | None:
        """Return a link; None if it is unknown, used up or expired."""
        valid = (col(AccountLink.uses_left) > 0, col(AccountLink.expires) > now())
        query = select(col(AccountLink.role), col(AccountLink.user_id)).where(col(AccountLink.digest) == digest, *valid)
        with self._sessions.reading() as session:
            row = session.execute(query).one_or_none()
        return ValidLink(*row) if row else None

    def take(self, digest: str) -> bool:
        """Use a link once; return False if it is unknown, used up or expired."""
        valid = (col(AccountLink.uses_left) > 0, col(AccountLink.expires) > now())
        using = update(AccountLink).where(col(AccountLink.digest) == digest, *valid)
        with self._sessions.writing() as session:
            found = session.execute(using.values(uses_left=col(AccountLink.uses_left) - 1))
            return bool(found.rowcount)  # type: ignore[attr-defined]

    def give_back(self, digest: str) -> None:
        """Undo one use of a link."""
        with self._sessions.writing() as session:
            mine = update(AccountLink).where(col(AccountLink.digest) == digest)
            session.execute(mine.values(uses_left=col(AccountLink.uses_left) + 1))

    def count_resets(self, user_id: int, since: datetime) -> int:
        """Count the links for resetting a user's password that were made since a moment."""
        mine = (col(AccountLink.user_id) == user_id, col(AccountLink.created_at) >= since)
        with self._sessions.reading() as session:
            return session.scalar(select(func.count()).select_from(AccountLink).where(*mine)) or 0

    def forget(self, user_id: int) -> None:
        """Delete all links that reset a user's password."""
        with self._sessions.writing() as session:
            session.execute(delete(AccountLink).where(col(AccountLink.user_id) == user_id))
