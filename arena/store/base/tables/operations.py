"""Counters, leases, the audit log, and the responses to requests that clients may repeat."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlmodel import Field, SQLModel

from arena.store.base.fields import created, document, moment, number


class Counter(SQLModel, table=True):
    """A named counter. The one named `commit` holds the last commit number assigned to a result."""

    __tablename__ = "counters"
    name: str = Field(primary_key=True, max_length=32)
    value: int = 0


class Lease(SQLModel, table=True):
    """A lease, such as `referee`: until it expires, only its owner may act."""

    __tablename__ = "leases"
    name: str = Field(primary_key=True, max_length=32)
    owner: str = Field(max_length=120)
    until: datetime = moment()


class Audit(SQLModel, table=True):
    __tablename__ = "audit"
    id: int = number()
    logged_at: datetime = created(index=True)
    user_id: int | None = Field(default=None, foreign_key="users.id", index=True)
    action: str = Field(max_length=40)
    subject: str = Field(max_length=120, index=True)
    detail: dict[str, Any] = document(dict)


class IdempotentResponse(SQLModel, table=True):
    """The response to a request with an `Idempotency-Key`, returned again when the request is repeated."""

    __tablename__ = "idempotent_responses"
    user_id: int = Field(primary_key=True, foreign_key="users.id")
    key: str = Field(primary_key=True, max_length=100)
    route: str = Field(max_length=120)
    digest: str = Field(max_length=64)
    status: int
    body: dict[str, Any] = document(dict)
    created_at: datetime = created(index=True)
