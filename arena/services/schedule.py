"""Schedules of recurring tournaments: read, preview, create, change, enable, disable and delete them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from arena.clock import now
from arena.coordinator import cron
from arena.documents.account import Identity
from arena.documents.schedule import (
    MAX_DATES,
    PreviewedTournament,
    RefusedEntry,
    ScheduleItem,
    SchedulePreview,
)
from arena.services.arena import Arena
from arena.services.tournament import expected, require_organiser
from arena.tournaments.creation import name_at
from referee.tournament.document import Document, read
from referee.tournament.part import SettingsError
from referee.tournament.toml_text import as_toml


def get(arena: Arena, schedule_id: int) -> ScheduleItem:
    """Return a schedule. Raises NotFoundError."""
    return arena.store.schedules.get(schedule_id)


def read_all(arena: Arena) -> list[ScheduleItem]:
    """Return all schedules, ordered by name."""
    return arena.store.schedules.all()


def coming(schedules: Iterable[ScheduleItem], at: datetime, days: int) -> list[tuple[datetime, ScheduleItem]]:
    """Return when the enabled ones fire within `days` days, the soonest first; at most `MAX_DATES` of each."""
    appointments: list[tuple[datetime, ScheduleItem]] = []
    for row in schedules:
        if row.is_enabled:
            with suppress(SettingsError):  # stored by another version of the program
                fires = islice(cron.fires(row.cron, row.timezone, at), MAX_DATES)
                appointments += [(fire, row) for fire in fires if fire < at + timedelta(days=days)]
    return sorted(appointments, key=lambda appointment: appointment[0])


@dataclass(frozen=True, slots=True)
class ScheduleView:
    """A schedule with its preview and the document of its tournaments; `text` is that as TOML.

    If the stored document is invalid, `document` is None and `text` is empty.
    """

    schedule: ScheduleItem
    preview: SchedulePreview
    document: Document | None
    text: str


def show(arena: Arena, schedule_id: int) -> ScheduleView:
    """Return a schedule with its preview and its document. Raises NotFoundError."""
    row = get(arena, schedule_id)
    coming = _preview(arena, row, 5)
    try:
        document = read(row.template)
    except SettingsError:
        return ScheduleView(row, coming, None, "")
    return ScheduleView(row, coming, document, as_toml(document))


def preview(arena: Arena, schedule_id: int, count: int = 5) -> SchedulePreview:
    """Return the next `count` tournaments of a schedule without creating them. Raises NotFoundError.

    Those of a disabled schedule are the ones that it would create if it were enabled.
    """
    return _preview(arena, get(arena, schedule_id), count)


def _preview(arena: Arena, row: ScheduleItem, count: int) -> SchedulePreview:
    dates, document, games, problems = [], None, None, []
    try:
        dates = cron.dates(row.cron, row.timezone, now(), count)
        document = read(row.template)
        games = expected(arena, document)
        problems = list(games.problems)
    except SettingsError as error:  # stored by another version of the program, or an opening book is gone
        problems = [str(error)]
    return SchedulePreview(
        id=row.id,
        name=row.name,
        cron=row.cron,
        timezone=row.timezone,
        is_enabled=row.is_enabled,
        family=document.family if document else None,
        variant=document.ruleset.variant.name if document else None,
        format=document.format if document else None,
        tournaments=[PreviewedTournament(starts=date, name=name_at(row.name, date)) for date in dates],
        entries=[name for name, _ in games.entries] if games else [],
        refused=[RefusedEntry(name=name, reason=reason) for name, reason in games.refused] if games else [],
        least_games=games.extent.least if games else None,
        most_games=games.extent.most if games else None,
        problems=problems,
    )


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


def delete(arena: Arena, schedule_id: int, by: Identity) -> None:
    """Delete a schedule; the tournaments that it has created remain. Raises NotFoundError, ForbiddenError."""
    require_organiser(by)
    cron.delete(arena.store, schedule_id, by.user_id)
