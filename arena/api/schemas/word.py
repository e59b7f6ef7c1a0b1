"""Field types of the schemas: names, numbers, times; and the base classes of requests and responses."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from arena.plain_text import BIDI_CONTROLS
from arena.store.base.credentials import NAME_RULE

MAX_ID = 2**31 - 1

Number = Annotated[int, Field(ge=1, le=MAX_ID)]
_NAME = r"^[a-z0-9]([a-z0-9_-]{0,38}[a-z0-9])?$"
_ENTRY = _NAME[:-1] + r"( v[1-9][0-9]{0,8})?$"
_FAMILY = r"^[a-z0-9_]{1,32}$"
_GAME = r"^[0-9a-f]{16,32}$"
_VARIANT, _POOL = r"^[!-~]{1,120}$", r"^[!-~]{1,200}$"
_LINE = rf"^[^\x00-\x1f\x7f{BIDI_CONTROLS}]*$"
_LINES = rf"^[^\x00-\x08\x0b-\x1f\x7f{BIDI_CONTROLS}]*$"
_DIGEST = r"^[0-9a-f]{64}$"
FORMS = {
    _NAME: f"write {NAME_RULE}",
    _ENTRY: "write a bot, such as zeta, or a version, such as zeta v3",
    _FAMILY: "write the name of a family: up to 32 characters of a-z, 0-9 and _",
    _GAME: "write 16 to 32 hexadecimal digits in lower case",
    _VARIANT: "write a name without blanks",
    _POOL: "write a name without blanks",
    _LINE: "write one line of printable characters",
    _LINES: "write lines of printable characters",
    _DIGEST: "write 64 hexadecimal digits in lower case",
}
"""Hints for texts that do not match a pattern, by pattern."""

FamilyName = Annotated[str, StringConstraints(pattern=_FAMILY)]
BotName = Annotated[str, StringConstraints(pattern=_NAME)]
EntryName = Annotated[str, StringConstraints(pattern=_ENTRY)]
"""A bot, or a version by its full name, as in standings."""
UserName = BotName
GameId = Annotated[str, StringConstraints(pattern=_GAME)]
VariantName = Annotated[str, StringConstraints(pattern=_VARIANT)]
PoolName = Annotated[str, StringConstraints(pattern=_POOL)]
OneLine = Annotated[str, StringConstraints(pattern=_LINE, min_length=1, max_length=80)]
Prose = Annotated[str, StringConstraints(pattern=_LINES, max_length=1000)]
Sha256 = Annotated[str, StringConstraints(pattern=_DIGEST)]


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
