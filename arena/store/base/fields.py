"""The kinds of columns that tables of the core and of features are made of, and how constraints are named."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Column, DateTime, LargeBinary, MetaData, String
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel

from arena.clock import now

SQLModel.metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Utc(TypeDecorator[datetime]):
    """A time with zone, stored as UTC. SQLite drops zones, so they are restored on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        """Convert to UTC. Raises ValueError for a naive time."""
        if value is not None and value.tzinfo is None:
            raise ValueError(f"a time without a zone: {value}")
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def moment(*, nullable: bool = False, index: bool = False) -> Any:
    return Field(default=None if nullable else ..., sa_type=Utc, nullable=nullable, index=index)


def number() -> Any:
    """Declare an id that the database assigns: None until the row is flushed, and never None in a row that was read."""
    return Field(default=None, primary_key=True)


def word(max_length: int, default: str | None = None, *, nullable: bool = False) -> Any:
    """Declare a text of which only some values exist; its annotation, a `Literal`, lists them."""
    return Field(default=default if default or nullable else ..., sa_type=String(max_length), nullable=nullable)


def created(*, index: bool = False) -> Any:
    """Declare the time at which a row is made."""
    return Field(default_factory=now, sa_type=Utc, nullable=False, index=index)


def blob(default: Any = ...) -> Any:
    """Declare compressed data."""
    return Field(default=default, sa_column=Column(LargeBinary, nullable=False))


def document(default: Any) -> Any:
    """Declare plain data; `default` makes it, such as `dict`."""
    return Field(default_factory=default, sa_column=Column(JSON, nullable=False))
