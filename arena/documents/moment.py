"""Times that users write: a day or a time, in UTC by default."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias

_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(T|$)", re.ASCII | re.IGNORECASE)


class _InUtc:
    """Makes pydantic read a day or a time, not a number, and convert it to UTC."""

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
