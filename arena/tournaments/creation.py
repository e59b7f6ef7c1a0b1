"""Tournaments are created: the document is checked, the entries are chosen, the row is stored.

Anybody may create.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from arena.store import Store
from arena.store.models import Tournament
from arena.tournaments import format, openings
from arena.tournaments.entry import Field, resolve
from arena.tournaments.settings import Document, SettingsError, read

LATEST = timedelta(days=366)
"""How far ahead a tournament may be announced."""


def create(
    store: Store,
    document: Mapping[str, Any] | Document,
    by: int,
    at: datetime,
    *,
    schedule_id: int | None = None,
    fire_time: datetime | None = None,
) -> Tournament:
    """Store a tournament with its entries as of now; those of a query are chosen anew when it starts.

    A person is told at once of a bot that cannot play; a schedule's tournament goes on without it, and says so.
    Raises SettingsError, and ConflictError when the schedule has fired for that time already.
    """
    found = document if isinstance(document, Document) else read(document)
    starts = fire_time or found.starts or at
    if schedule_id is None:
        field = checked(store, found, starts, at)
    else:
        openings.check(found)
        field = resolve(store, found)
    row = _row(found, field, starts, by)
    row.schedule_id, row.fire_time = schedule_id, fire_time
    tournament = store.tournaments.add(row, field.entries, field.refused)
    store.audit.note("tournament.create", f"tournament:{tournament.id}", by, name=tournament.name)
    return tournament


def change(store: Store, tournament_id: int, document: Mapping[str, Any] | Document, at: datetime) -> Tournament:
    """Put another document in the place of that of a tournament which has not begun.

    Raises SettingsError, NotFoundError, and ConflictError once it has begun.
    """
    found = document if isinstance(document, Document) else read(document)
    present = store.tournaments.get(tournament_id)
    starts = present.fire_time or found.starts or max(at, present.start_time)
    field = checked(store, found, starts, at)
    return store.tournaments.replace(
        tournament_id, _row(found, field, starts, present.created_by), field.entries, field.refused
    )


def checked(store: Store, document: Document, starts: datetime, at: datetime) -> Field:
    """The field of a document that a person has written. Raises SettingsError for what keeps it from being played."""
    if document.schedule is not None:
        raise SettingsError("a recurring tournament is a schedule of its own", "schedule")
    if starts > at + LATEST:
        raise SettingsError(f"more than {LATEST.days} days ahead", "starts")
    openings.check(document)
    field = resolve(store, document)
    if field.problems:
        raise SettingsError("; ".join(field.problems), "entries.bots")
    missing = shortage(document, field)
    if missing and (starts <= at or not document.entries.has_query):
        raise SettingsError(missing, "entries")
    return field


def _row(document: Document, field: Field, starts: datetime, by: int) -> Tournament:
    return Tournament(
        name=_named(document.name, starts),
        family=document.family,
        variant=document.ruleset.variant.name,
        options=dict(document.options),
        format=document.format,
        settings=document.as_json(),
        pool=document.rating_pool,
        is_rated=document.rated,
        problem="; ".join(field.problems),
        start_time=starts,
        created_by=by,
    )


def _named(name: str, starts: datetime) -> str:
    when = starts.astimezone(UTC)
    return name.replace("{date}", f"{when:%Y-%m-%d}").replace("{time}", f"{when:%H:%M}")[:120]


def shortage(document: Document, field: Field) -> str:
    """Why this field is too small to play; empty when it is not."""
    least = 0 if format.is_open(document.format) and document.entries.has_query else 2
    if document.format == "race":
        least = document.race.first + 1
    if len(field.entries) >= least:
        return ""
    return f"{len(field.entries)} bots may play, {least} are needed"
