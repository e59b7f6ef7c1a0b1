"""Field types of the schemas: names, numbers, times; and the base classes of requests and responses."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from arena.documents import words

Number = Annotated[int, Field(**words.ID)]
FamilyName = Annotated[str, Field(**words.FAMILY)]
BotName = Annotated[str, Field(**words.NAME)]
EntryName = Annotated[str, Field(**words.ENTRY)]
"""A bot, or a version by its full name, as in standings."""
UserName = BotName
GameId = Annotated[str, Field(**words.GAME)]
VariantName = Annotated[str, Field(**words.VARIANT)]
PoolName = Annotated[str, Field(**words.POOL)]
OneLine = Annotated[str, Field(**words.ONE_LINE)]
Prose = Annotated[str, Field(**words.PROSE)]
Sha256 = Annotated[str, Field(**words.SHA256)]


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("write a time such as 2026-11-01T00:00:00Z") from None


def _is_moment(value: Any) -> Any:
    if isinstance(value, str) and not _MOMENT.match(value):
        raise ValueError("write a day or a time, such as 2026-11-01 or 2026-11-01T12:00:00Z")
    return value


_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(T|$)", re.ASCII | re.IGNORECASE)
Moment = Annotated[datetime, BeforeValidator(_is_moment), AfterValidator(_in_utc)]
"""A day or a time, in UTC by default."""
ScopeName = Literal["read", "submit", "organise", "admin", "worker"]
RoleName = Literal["author", "organiser", "admin"]
Side = Literal["first", "second"]


class Out(BaseModel):
    """Base class of responses."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True)


class In(BaseModel):
    """Base class of requests: unknown fields and implicit type conversions are rejected."""

    model_config = ConfigDict(extra="forbid", strict=True)
