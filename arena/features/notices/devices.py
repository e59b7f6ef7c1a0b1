"""Devices that get notifications, in the database, and the key by which push services recognise this arena."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.clock import now
from arena.errors import QuotaError
from arena.features.notices.tables import PushDevice, PushKey
from arena.store import Store
from arena.store.base.tables.people import User

MAX_DEVICES = 10
"""Maximum of devices of a user."""
BACKOFF = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 600, 1440))
"""Pauses after failed attempts; a device is forgotten after the last one."""


class PushDevices:
    def __init__(self, store: Store) -> None:
        self._store = store

    def key(self) -> bytes:
        """Return the private key (PEM) of this arena, which the first process that needs one makes."""
        with self._store.reading() as session:
            row = session.get(PushKey, 1)
            if row is not None:
                return row.private_key.encode()
        from py_vapid import Vapid02

        fresh = Vapid02()
        fresh.generate_keys()
        # Another process may have been faster: then its key is read.
        with suppress(IntegrityError), self._store.writing() as session:
            session.add(PushKey(id=1, private_key=fresh.private_pem().decode()))
        return self.key()

    def of(self, user_id: int) -> list[PushDevice]:
        """Return the devices of a user, oldest first."""
        query = select(PushDevice).where(col(PushDevice.user_id) == user_id).order_by(col(PushDevice.id))
        with self._store.reading() as session:
            devices = list(session.scalars(query))
            session.expunge_all()
        return devices

    def add(self, device: PushDevice) -> None:
        """Store a device, which gets what happens from now on, instead of an earlier user of it. Raises QuotaError."""
        with self._store.writing() as session:
            session.execute(delete(PushDevice).where(col(PushDevice.digest) == device.digest))
            count = session.scalar(select(func.count()).where(col(PushDevice.user_id) == device.user_id)) or 0
            if count >= MAX_DEVICES:
                raise QuotaError(f"you have {MAX_DEVICES} devices", hint="remove one of them")
            session.add(device)

    def remove(self, user_id: int, number: int) -> None:
        """Remove a device of a user; does nothing if it is not there."""
        with self._store.writing() as session:
            session.execute(delete(PushDevice).where(col(PushDevice.id) == number, col(PushDevice.user_id) == user_id))

    def due(self) -> list[PushDevice]:
        """Return the devices of active users that may be sent something now."""
        query = (
            select(PushDevice)
            .join(User, col(User.id) == col(PushDevice.user_id))
            .where(col(PushDevice.next_at) <= now(), col(User.is_active).is_(True))
            .order_by(col(PushDevice.user_id), col(PushDevice.id))
        )
        with self._store.reading() as session:
            devices = list(session.scalars(query))
            session.expunge_all()
        return devices

    def claim(self, device: PushDevice, until: datetime) -> bool:
        """Note that notices until then are being sent, before they are; return False if that was noted already."""
        return self._change(device, device.sent_until, {"sent_until": until})

    def note(self, device: PushDevice, until: datetime, status: int | None, problem: str) -> None:
        """Note an attempt: sent without a `problem`, else to be tried again until the pauses are used up.

        A device that its push service does not know any more is removed.
        """
        if not problem:
            self._change(device, until, {"tries": 0})
        elif status in (404, 410) or device.tries >= len(BACKOFF):
            self.remove(device.user_id, device.id)
        else:
            pause = BACKOFF[device.tries]
            values = {"sent_until": device.sent_until, "tries": device.tries + 1, "next_at": now() + pause}
            self._change(device, until, values)

    def _change(self, device: PushDevice, sent_until: datetime, values: Mapping[str, object]) -> bool:
        mine = (col(PushDevice.id) == device.id, col(PushDevice.sent_until) == sent_until)
        with self._store.writing() as session:
            changed = session.execute(update(PushDevice).where(*mine).values(**values))
            return bool(changed.rowcount)  # type: ignore[attr-defined]

    def forget(self) -> int:
        """Forget the devices of disabled accounts; return their number."""
        inactive = select(col(User.id)).where(col(User.is_active).is_(False))
        with self._store.writing() as session:
            old = session.execute(delete(PushDevice).where(col(PushDevice.user_id).in_(inactive)))
            return int(old.rowcount)  # type: ignore[attr-defined]


def digest_of_endpoint(endpoint: str) -> str:
    """Return the digest under which a device is stored."""
    return hashlib.sha256(endpoint.encode()).hexdigest()
