"""Addresses to which people want a digest by mail."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Field, SQLModel

from arena.documents.account import MAX_EMAIL
from arena.store.base.fields import moment


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
