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
from referee.ratings.trueskill import pool_of

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
    if found.schedule is not None and schedule_id is None:
        raise SettingsError("a recurring tournament is a schedule of its own", "schedule")
    starts = fire_time or found.starts or at
    if starts > at + LATEST:
        raise SettingsError(f"more than {LATEST.days} days ahead", "starts")
    openings.check(found)
    field = resolve(store, found)
    if schedule_id is None:
        if field.problems:
            raise SettingsError("; ".join(field.problems), "entries.bots")
        missing = shortage(found, field)
        if missing and (starts <= at or not found.entries.has_query):
            raise SettingsError(missing, "entries")
    tournament = store.tournaments.add(
        Tournament(
            name=_named(found.name, starts),
            family=found.family,
            variant=found.ruleset.variant.name,
            options=dict(found.options),
            format=found.format,
            settings=found.as_json(),
            pool=pool_of(found.ruleset),
            is_rated=found.rated,
            problem="; ".join(field.problems),
            starts=starts,
            schedule_id=schedule_id,
            fire_time=fire_time,
            created_by=by,
        ),
        field.entries,
        field.refused,
    )
    store.audit.note("tournament.create", f"tournament:{tournament.id}", by, name=tournament.name)
    return tournament


def _named(name: str, starts: datetime) -> str:
    when = starts.astimezone(UTC)
    return name.replace("{date}", f"{when:%Y-%m-%d}").replace("{time}", f"{when:%H:%M}")[:120]


def shortage(document: Document, field: Field) -> str:
    """Why this field is too small to play; empty when it is not."""
    least = 0 if format.is_open(document.format) and document.entries.has_query else 2
    if len(field.entries) >= least:
        return ""
    return f"{len(field.entries)} bots may play, {least} are needed"
