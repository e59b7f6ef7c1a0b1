"""Schedules of recurring tournaments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from arena.documents.query import hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleItem:
    """A recurring tournament. `template` is the settings document of its tournaments."""

    id: int
    name: str
    cron: str
    timezone: str
    catch_up: Literal["skip", "once", "all"]
    template: Mapping[str, Any]
    is_enabled: bool
    next_fire: datetime | None
    created_at: datetime
    created_by: int = hidden()
