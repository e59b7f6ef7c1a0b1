"""Pydantic constraints on texts, numbers and times in queries and requests, with hints for invalid values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, TypeAlias

from arena.names import NAME_PATTERN, NAME_RULE
from arena.plain_text import BIDI_CONTROLS

Bounds: TypeAlias = Mapping[str, Any]
"""Keywords of a field of pydantic: `ge`, `le`, `min_length`, `max_length`, `pattern`."""

Side: TypeAlias = Literal["first", "second"]
Winner: TypeAlias = Literal["first", "second", "draw"]
"""The same as in `referee.rules.core`, which is not imported because its package loads numpy."""

MAX_ID: Final = 2**31 - 1

ID: Final[Bounds] = {"ge": 1, "le": MAX_ID}
NAME: Final[Bounds] = {"pattern": f"^{NAME_PATTERN}$"}
ENTRY: Final[Bounds] = {"pattern": f"^{NAME_PATTERN}( v[1-9][0-9]{{0,8}})?$"}
FAMILY: Final[Bounds] = {"pattern": r"^[a-z0-9_]{1,32}$"}
GAME: Final[Bounds] = {"pattern": r"^[0-9a-f]{16,32}$"}
VARIANT: Final[Bounds] = {"pattern": r"^[!-~]{1,120}$"}
POOL: Final[Bounds] = {"pattern": r"^[!-~]{1,200}$"}
ONE_LINE: Final[Bounds] = {
    "pattern": rf"^[^\x00-\x1f\x7f-\x9f\u2028\u2029{BIDI_CONTROLS}]*$",
    "min_length": 1,
    "max_length": 80,
}
PROSE: Final[Bounds] = {"pattern": rf"^[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{BIDI_CONTROLS}]*$", "max_length": 1000}
SHA256: Final[Bounds] = {"pattern": r"^[0-9a-f]{64}$"}
DAY: Final[Bounds] = {"pattern": r"^[0-9]{4}(-[0-9]{1,2}(-[0-9]{1,2})?)?$"}
WORDS: Final[Bounds] = {"min_length": 1, "max_length": 200}
NOTATION: Final[Bounds] = {"min_length": 1, "max_length": 40}

FORMS: Final[Mapping[str, str]] = {
    NAME["pattern"]: f"write {NAME_RULE}",
    ENTRY["pattern"]: "write a bot, such as zeta, or a version, such as zeta v3",
    FAMILY["pattern"]: "write the name of a family: up to 32 characters of a-z, 0-9 and _",
    GAME["pattern"]: "write 16 to 32 hexadecimal digits in lower case",
    VARIANT["pattern"]: "write up to 120 printable ASCII characters without blanks",
    POOL["pattern"]: "write up to 200 printable ASCII characters without blanks",
    ONE_LINE["pattern"]: "write one line of printable characters",
    PROSE["pattern"]: "write lines of printable characters",
    SHA256["pattern"]: "write 64 hexadecimal digits in lower case",
    DAY["pattern"]: "write a year, a month or a day, such as 2026, 2026-11 or 2026-11-30",
}
"""Hints for texts that do not match a pattern, by pattern."""

_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(T|$)", re.ASCII | re.IGNORECASE)


class _InUtc:
    """An annotation with which pydantic reads a day or a time, but no number, and converts it to UTC."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic import AfterValidator, BeforeValidator

        return handler.generate_schema(Annotated[source, BeforeValidator(_checked), AfterValidator(_in_utc)])


def _checked(value: Any) -> Any:
    if isinstance(value, str) and not _MOMENT.match(value):
        raise ValueError("write a day or a time, such as 2026-11-01 or 2026-11-01T12:00:00Z")
    return value


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("write a time such as 2026-11-01T00:00:00Z") from None


Moment: TypeAlias = Annotated[datetime, _InUtc()]
"""A day or a time, in UTC by default."""
