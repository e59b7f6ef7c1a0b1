"""Addresses for digests in the database, and the signed links that confirm and remove them."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import func, or_, select, update
from sqlmodel import col

from arena.clock import now
from arena.errors import BadValueError, QuotaError
from arena.features.notices.tables import DigestAddress
from arena.store import Store
from arena.store.base.tables.people import User

CONFIRM_LIFETIME = timedelta(hours=24)
MAX_LINKS = 3
"""Maximum of links that confirm an address: for a user, and of other users to the same address, within a lifetime."""
BACKOFF = tuple(timedelta(minutes=minutes) for minutes in (5, 30, 120, 360))
"""Pauses after failed attempts; the last one is repeated, so that nothing is lost while the mail server is down."""


class DigestAddresses:
    """The addresses of all users. A user has at most one."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, user_id: int) -> DigestAddress | None:
        """Return the address of a user, confirmed or not; None if there is none."""
        with self._store.reading() as session:
            row = session.get(DigestAddress, user_id)
            session.expunge_all()
        return row if row is not None and row.address else None

    def ask(self, user_id: int, address: str, language: str) -> DigestAddress:
        """Store an address that is to be confirmed, instead of an earlier one. Raises QuotaError."""
        since = now() - CONFIRM_LIFETIME
        others = (
            func.lower(col(DigestAddress.address)) == address.lower(),
            col(DigestAddress.user_id) != user_id,
            col(DigestAddress.confirmed_at).is_(None),
            col(DigestAddress.asked_at) > since,
        )
        with self._store.writing() as session:
            row = session.get(DigestAddress, user_id, with_for_update=True)
            if row is None:
                row = DigestAddress(user_id=user_id, key="", asked_at=now())
                session.add(row)
            if row.asked_at <= since:
                row.asked_at, row.links = now(), 0
            asked = session.scalar(select(func.count()).where(*others)) or 0
            if max(row.links, asked) >= MAX_LINKS:
                raise QuotaError(f"{MAX_LINKS} links were requested within 24 hours", hint="try again tomorrow")
            row.links += 1
            # A new key ends the links of earlier mails.
            row.key = secrets.token_hex(32)
            row.address, row.language = address, language
            row.confirmed_at = row.told_until = row.next_at = None
            row.tries, row.problem = 0, ""
            session.flush()
            session.refresh(row)
            session.expunge(row)
        return row

    def change_language(self, user_id: int, address: str, language: str) -> bool:
        """Change the language of digests to an address; return False if it is not the confirmed one of the user."""
        mine = (
            col(DigestAddress.user_id) == user_id,
            col(DigestAddress.address) == address,
            col(DigestAddress.confirmed_at).is_not(None),
        )
        with self._store.writing() as session:
            changed = session.execute(update(DigestAddress).where(*mine).values(language=language))
            return bool(changed.rowcount)  # type: ignore[attr-defined]

    def confirm(self, user_id: int, until: int, given: str, hour: int) -> str:
        """Confirm the address of a signed link, whose digests begin at the next `hour` (UTC); return it.

        Doing so twice changes nothing. Raises BadValueError for a link that is wrong, expired or replaced.
        """
        row = self.of(user_id)
        if row is None or now().timestamp() > until or not is_signed(row, f"confirm {until}", given):
            raise BadValueError("this link is invalid or has expired", hint="request another one")
        mine = (col(DigestAddress.user_id) == user_id, col(DigestAddress.key) == row.key)
        with self._store.writing() as session:
            session.execute(
                update(DigestAddress)
                .where(*mine, col(DigestAddress.confirmed_at).is_(None))
                .values(confirmed_at=now(), told_until=now(), next_at=next_digest(now(), hour))
            )
        return row.address

    def by_link(self, user_id: int, given: str) -> DigestAddress | None:
        """Return the address of the signed link in a digest; None if it is wrong or was removed."""
        row = self.of(user_id)
        return row if row is not None and is_signed(row, "stop", given) else None

    def remove(self, user_id: int) -> None:
        """Forget the address of a user. What was requested stays counted until it expires."""
        with self._store.writing() as session:
            session.execute(
                update(DigestAddress)
                .where(col(DigestAddress.user_id) == user_id)
                .values(address="", key="", confirmed_at=None, told_until=None, next_at=None, tries=0, problem="")
            )

    def due(self, limit: int) -> list[tuple[DigestAddress, str]]:
        """Return confirmed addresses whose digest is due, with the names of their users, the longest due first."""
        query = (
            select(DigestAddress, col(User.name))
            .join(User, col(User.id) == col(DigestAddress.user_id))
            .where(col(DigestAddress.next_at) <= now(), col(User.is_active).is_(True))
            .order_by(col(DigestAddress.next_at), col(DigestAddress.user_id))
            .limit(limit)
        )
        with self._store.reading() as session:
            rows = [(row, name) for row, name in session.execute(query)]
            session.expunge_all()
        return rows

    def claim(self, row: DigestAddress, until: datetime, next_at: datetime) -> bool:
        """Note that a digest until then is being sent, before it is; return False if that was noted already.

        A process that dies between this and the answer of the mail server leaves a digest that is not sent again.
        """
        values = {"told_until": until, "next_at": next_at, "tries": 0, "problem": ""}
        return self._change(row, row.told_until, values)

    def give_back(self, row: DigestAddress, until: datetime, problem: str) -> None:
        """Undo `claim` for a digest that was certainly not accepted; it is tried again after a pause."""
        pause = BACKOFF[min(row.tries, len(BACKOFF) - 1)]
        values = {"told_until": row.told_until, "next_at": now() + pause, "tries": row.tries + 1}
        self._change(row, until, {**values, "problem": problem[:300]})

    def _change(self, row: DigestAddress, told_until: datetime | None, values: Mapping[str, object]) -> bool:
        mine = (
            col(DigestAddress.user_id) == row.user_id,
            col(DigestAddress.key) == row.key,
            col(DigestAddress.told_until) == told_until,
        )
        with self._store.writing() as session:
            changed = session.execute(update(DigestAddress).where(*mine).values(**values))
            return bool(changed.rowcount)  # type: ignore[attr-defined]

    def forget(self) -> int:
        """Forget addresses that were not confirmed in time, and those of disabled accounts; return their number."""
        inactive = select(col(User.id)).where(col(User.is_active).is_(False))
        is_late = col(DigestAddress.confirmed_at).is_(None) & (col(DigestAddress.asked_at) < now() - CONFIRM_LIFETIME)
        query = select(col(DigestAddress.user_id)).where(
            or_(is_late, col(DigestAddress.user_id).in_(inactive)), col(DigestAddress.address) != ""
        )
        with self._store.reading() as session:
            old = list(session.scalars(query))
        for user_id in old:
            self.remove(user_id)
        return len(old)


def signature(row: DigestAddress, purpose: str) -> str:
    """Return the signature of a link for a purpose: HMAC-SHA256 by the key of the address."""
    return hmac.new(bytes.fromhex(row.key), f"{purpose} {row.user_id}".encode(), hashlib.sha256).hexdigest()


def is_signed(row: DigestAddress, purpose: str, given: str) -> bool:
    """Return whether a signature is that of the address for the purpose."""
    return hmac.compare_digest(signature(row, purpose).encode(), given.encode("utf-8", "replace"))


def next_digest(after: datetime, hour: int) -> datetime:
    """Return the next time after `after` at which the clock strikes `hour` (UTC)."""
    today = after.replace(hour=hour, minute=0, second=0, microsecond=0)
    return today if today > after else today + timedelta(days=1)
