"""Schedules of recurring tournaments, and previews of the next ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from arena.documents.query import Query, described
from referee.meaning import HIDDEN, meaning

CatchUp = Literal["skip", "once", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleItem:
    """A recurring tournament. `template` is the settings document of its tournaments."""

    id: int
    name: str = field(metadata=meaning("name of its tournaments, with the placeholders `{date}` and `{time}`"))
    cron: str = field(metadata=meaning("minute, hour, day, month and weekday, in `timezone`"))
    timezone: str = field(metadata=meaning("IANA name, such as `Europe/Paris`"))
    catch_up: CatchUp = field(
        metadata=meaning("tournaments created for times missed while the server was down: none, the last or all")
    )
    template: Mapping[str, Any] = field(metadata=meaning("settings of its tournaments, a `Document`"))
    is_enabled: bool = field(metadata=meaning("false: it creates no tournaments"))
    next_fire: datetime | None = field(metadata=meaning("time of the next tournament in UTC; null: none"))
    created_at: datetime
    created_by: int = field(metadata=HIDDEN)


MAX_DATES = 50
"""Most dates of a schedule that are computed at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewQuery(Query):
    """The tournaments to preview."""

    count: int = described(f"number of tournaments, at most {MAX_DATES}", {"ge": 1, "le": MAX_DATES}, default=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedTournament:
    """A tournament that a schedule will create."""

    starts: datetime = field(metadata=meaning("when it starts, with the offset of the schedule's time zone"))
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedEntry:
    """A version that may not play, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePreview:
    """The next tournaments of a schedule, and the bots and games that each would have with the bots of today."""

    id: int
    name: str
    cron: str
    timezone: str
    is_enabled: bool
    family: str | None = field(metadata=meaning("null: the settings are invalid"))
    variant: str | None
    format: str | None
    tournaments: list[PreviewedTournament]
    entries: list[str]
    refused: list[RefusedEntry]
    least_games: int | None
    most_games: int | None = field(metadata=meaning("null: unlimited"))
    problems: list[str] = field(metadata=meaning("why its tournaments could not be played today"))
