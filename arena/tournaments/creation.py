"""Creation of tournaments: check the document, resolve the entries, store the row.

Callers check permissions.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from arena.documents.tournament import TournamentItem
from arena.store import Store
from arena.store.base.models import Tournament
from arena.tournaments import format, openings
from arena.tournaments.entry import ResolvedEntries, resolve
from arena.tournaments.settings import Document, SettingsError, read

MAX_ANNOUNCEMENT = timedelta(days=366)
"""Longest time from creation to start."""


def create(
    store: Store,
    document: Mapping[str, Any] | Document,
    by: int,
    at: datetime,
    *,
    schedule_id: int | None = None,
    fire_time: datetime | None = None,
) -> TournamentItem:
    """Store a tournament with its present entries; entries found by a query are resolved again at the start.

    A bot that cannot play is an error, except in a tournament of a schedule: that one is stored without the bot, with
    the reason in `problem`. Raises SettingsError, and ConflictError if the schedule has already fired for that time.
    """
    settings = document if isinstance(document, Document) else read(document)
    starts = fire_time or settings.start_time or at
    if schedule_id is None:
        field = checked(store, settings, starts, at)
    else:
        openings.check(settings)
        field = resolve(store, settings)
    row = _row(settings, field, starts, by)
    row.schedule_id, row.fire_time = schedule_id, fire_time
    tournament = store.tournaments.add(row, field.entries, field.refused)
    store.audit.note("tournament.create", f"tournament:{tournament.id}", by, name=tournament.name)
    return tournament


def change(store: Store, tournament_id: int, document: Mapping[str, Any] | Document, at: datetime) -> TournamentItem:
    """Replace the document of a tournament that has not started.

    Raises SettingsError; NotFoundError; ConflictError if the tournament has started.
    """
    settings = document if isinstance(document, Document) else read(document)
    present = store.tournaments.get(tournament_id)
    starts = present.fire_time or settings.start_time or max(at, present.start_time)
    field = checked(store, settings, starts, at)
    return store.tournaments.replace(
        tournament_id, _row(settings, field, starts, present.created_by), field.entries, field.refused
    )


def checked(store: Store, document: Document, starts: datetime, at: datetime) -> ResolvedEntries:
    """Resolve the entries of a document that a person wrote. Raises SettingsError if the document is invalid."""
    if document.schedule is not None:
        raise SettingsError(
            "is for recurring tournaments; create a schedule from this document, or remove this table", "schedule"
        )
    if starts > at + MAX_ANNOUNCEMENT:
        raise SettingsError(f"must be at most {MAX_ANNOUNCEMENT.days} days ahead", "start_time")
    openings.check(document)
    field = resolve(store, document)
    if field.problems:
        raise SettingsError("; ".join(field.problems), "entries.bots")
    missing = shortage(document, field)
    if missing and (starts <= at or not document.entries.has_query):
        raise SettingsError(missing, "entries")
    return field


def _row(document: Document, field: ResolvedEntries, starts: datetime, by: int) -> Tournament:
    return Tournament(
        name=_named(document.name, starts),
        family=document.family,
        variant=document.ruleset.variant.name,
        options=dict(document.rule_options),
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


def shortage(document: Document, field: ResolvedEntries) -> str:
    """Return why there are too few entries to play; empty if there are enough."""
    minimum = 0 if format.is_open(document.format) and document.entries.has_query else 2
    if document.format == "race":
        minimum = document.race.top + 1
    if len(field.entries) >= minimum:
        return ""
    return f"too few bots: {len(field.entries)} may play, at least {minimum} are needed"
