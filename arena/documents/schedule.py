"""Schedules of recurring tournaments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from arena.documents.query import hidden, meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleItem:
    """A recurring tournament. `template` is the settings document of its tournaments."""

    id: int
    name: str = field(metadata=meaning("name of its tournaments, with the placeholders `{date}` and `{time}`"))
    cron: str = field(metadata=meaning("minute, hour, day, month and weekday, in `timezone`"))
    timezone: str = field(metadata=meaning("IANA name, such as `Europe/Paris`"))
    catch_up: Literal["skip", "once", "all"] = field(
        metadata=meaning("tournaments created for times missed while the server was down: none, the last or all")
    )
    template: Mapping[str, Any] = field(metadata=meaning("settings of its tournaments, a `Document`"))
    is_enabled: bool = field(metadata=meaning("false: it creates no tournaments"))
    next_fire: datetime | None = field(metadata=meaning("time of the next tournament in UTC; null: none"))
    created_at: datetime
    created_by: int = hidden()
