"""Addresses to which people want a digest by mail, and devices that get notifications."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Field, SQLModel

from arena.documents.account import MAX_EMAIL
from arena.store.base.fields import created, moment, number

MAX_ENDPOINT = 1000
"""Maximum length of the address of a device at its push service."""


class DigestAddress(SQLModel, table=True):
    """The address of a user for digests, and until when news were sent; an empty address gets none.

    `key` signs the links in mails to this address. Of the links that confirm it, `links` were sent since `asked_at`.
    News until `told_until` have been sent. The next digest is due at `next_at`; `tries` failed since the last one, and
    `problem` is the reason.
    """

    __tablename__ = "notices_addresses"
    user_id: int = Field(primary_key=True, foreign_key="users.id")
    address: str = Field(default="", max_length=MAX_EMAIL, index=True)
    language: str = Field(default="en", max_length=8)
    key: str = Field(max_length=64)
    asked_at: datetime = moment()
    links: int = 0
    confirmed_at: datetime | None = moment(nullable=True)
    told_until: datetime | None = moment(nullable=True)
    next_at: datetime | None = moment(nullable=True, index=True)
    tries: int = 0
    problem: str = Field(default="", max_length=300)


class PushKey(SQLModel, table=True):
    """The key (PEM) by which push services recognise this arena (VAPID, RFC 8292); the only row has the id 1.

    It is in the database, as all processes need the same one: browsers bind what they are sent to it.
    """

    __tablename__ = "notices_keys"
    id: int = Field(primary_key=True)
    private_key: str = Field(max_length=500)


class PushDevice(SQLModel, table=True):
    """A browser of a user that gets notifications, also while no page is open.

    `endpoint` is its address at the push service of its maker, `public_key` and `secret` encrypt for it (RFC 8291, in
    base64url). `sent_until` is the time of the latest notice that was sent; `tries` failed since then, and the next
    one is due at `next_at`.
    """

    __tablename__ = "notices_devices"
    id: int = number()
    user_id: int = Field(foreign_key="users.id", index=True)
    digest: str = Field(unique=True, max_length=64)
    """SHA-256 of the endpoint."""
    endpoint: str = Field(max_length=MAX_ENDPOINT)
    public_key: str = Field(max_length=100)
    secret: str = Field(max_length=40)
    language: str = Field(default="en", max_length=8)
    sent_until: datetime = moment()
    next_at: datetime = moment(index=True)
    tries: int = 0
    created_at: datetime = created()
