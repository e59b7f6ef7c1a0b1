"""Schedules of recurring tournaments: read, create, change, enable and disable them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from arena.clock import now
from arena.coordinator import cron
from arena.documents.identity import Identity
from arena.documents.schedule import ScheduleItem
from arena.services.arena import Arena
from arena.services.tournament import require_organiser
from arena.tournaments.settings import Document, SettingsError, read
from arena.tournaments.toml_text import as_toml

MAX_FIRES = 50
"""Most dates of one schedule in a calendar."""
UPCOMING = 5
"""Number of future dates of a schedule."""


def get(arena: Arena, schedule_id: int) -> ScheduleItem:
    """Return a schedule. Raises NotFoundError."""
    return arena.store.schedules.get(schedule_id)


def read_all(arena: Arena) -> list[ScheduleItem]:
    """Return all schedules, ordered by name."""
    return arena.store.schedules.all()


def coming(arena: Arena, at: datetime, days: int) -> list[tuple[datetime, ScheduleItem]]:
    """Return when enabled schedules fire within `days` days, the soonest first; at most `MAX_FIRES` times of each."""
    found: list[tuple[datetime, ScheduleItem]] = []
    for row in read_all(arena):
        if row.is_enabled:
            with suppress(SettingsError):  # stored by another version of the program
                fires = islice(cron.fires(row.cron, row.timezone, at), MAX_FIRES)
                found += [(fire, row) for fire in fires if fire < at + timedelta(days=days)]
    return sorted(found, key=lambda one: one[0])


@dataclass(frozen=True, slots=True)
class ScheduleView:
    """A schedule with its next dates and the document of its tournaments; `text` is the document as TOML.

    If the stored document is invalid, `document` is None, and `dates` and `text` are empty.
    """

    schedule: ScheduleItem
    dates: list[datetime]
    document: Document | None
    text: str


def show(arena: Arena, schedule_id: int) -> ScheduleView:
    """Return a schedule with its next dates and its document; a disabled one has no dates. Raises NotFoundError."""
    row = get(arena, schedule_id)
    try:
        dates = list(islice(cron.fires(row.cron, row.timezone, now()), UPCOMING)) if row.is_enabled else []
        document = read(row.template)
        return ScheduleView(row, dates, document, as_toml(document))
    except SettingsError:
        return ScheduleView(row, [], None, "")


def create(arena: Arena, document: Mapping[str, Any] | Document, by: Identity) -> ScheduleItem:
    """Store a schedule from a document with a table `schedule`. Raises SettingsError, TakenError, ForbiddenError."""
    require_organiser(by)
    row = cron.create(arena.store, document, by.user_id, now())
    arena.wake()
    return row


def change(arena: Arena, schedule_id: int, document: Mapping[str, Any] | Document, by: Identity) -> ScheduleItem:
    """Replace the document of a schedule. Raises SettingsError, NotFoundError, TakenError, ForbiddenError."""
    require_organiser(by)
    row = cron.change(arena.store, schedule_id, document, by.user_id, now())
    arena.wake()
    return row


def switch(arena: Arena, schedule_id: int, is_enabled: bool, by: Identity) -> ScheduleItem:
    """Enable a schedule from its next time on, or disable it. Raises NotFoundError, ForbiddenError."""
    require_organiser(by)
    row = cron.enable(arena.store, schedule_id, is_enabled, by.user_id, now())
    arena.wake()
    return row
