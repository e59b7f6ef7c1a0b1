"""Schedules of recurring tournaments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from arena.documents.query import documented, hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleItem:
    """A recurring tournament. `template` is the settings document of its tournaments."""

    id: int
    name: str = documented("name of its tournaments, with the placeholders `{date}` and `{time}`")
    cron: str = documented("minute, hour, day, month and weekday, in `timezone`")
    timezone: str = documented("IANA name, such as `Europe/Paris`")
    catch_up: Literal["skip", "once", "all"] = documented(
        "tournaments created for times missed while the server was down: none, the last or all"
    )
    template: Mapping[str, Any] = documented("settings of its tournaments, a `Document`")
    is_enabled: bool = documented("false: it creates no tournaments")
    next_fire: datetime | None = documented("time of the next tournament in UTC; null: none")
    created_at: datetime
    created_by: int = hidden()
