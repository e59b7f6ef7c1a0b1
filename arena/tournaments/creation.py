"""Creation of tournaments: check the document, resolve the entries, store the row. Callers check permissions.

Permanent ladders are created here: one for each family, which every checked bot joins, so that it soon has a rating.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from arena.documents.tournament import PERMANENT_LADDER, TournamentItem
from arena.store import Store
from arena.store.base.tables.tournaments import Tournament
from arena.tournaments.entry import ResolvedEntries, resolve
from referee.rules import load
from referee.tournament import openings
from referee.tournament.document import Document, read
from referee.tournament.part import SettingsError

MAX_ANNOUNCEMENT = timedelta(days=366)
"""Longest time from creation to start."""
MAX_LATENESS = timedelta(minutes=5)
"""A start time written as "now" may have passed so long ago when the document arrives: clocks differ."""
GAMES_PER_BOT = 30
"""Games after which a bot of a permanent ladder rests."""
PRIORITY = -10
"""A quarter of the weight of an organiser's tournament: newcomers start at once, and delay others little."""


def create(
    store: Store,
    document: Mapping[str, Any] | Document,
    by: int,
    at: datetime,
    *,
    schedule_id: int | None = None,
    fire_time: datetime | None = None,
    is_challenge: bool = False,
) -> TournamentItem:
    """Store a tournament with its present entries; entries found by a query are resolved again at the start.

    A bot that cannot play is an error, except in a tournament of a schedule: that one is stored without the bot, with
    the reason in `problem`. In a challenge, a player chose the opponent. Raises SettingsError, and ConflictError if
    the schedule has already fired for that time.
    """
    settings = document if isinstance(document, Document) else read(document)
    starts = fire_time or settings.start_time or at
    if schedule_id is None:
        check_start(settings, at)
        field = checked(store, settings, starts, at)
    else:
        openings.check(settings)
        field = resolve(store, settings)
    row = _row(settings, field, starts, by)
    row.schedule_id, row.fire_time, row.is_challenge = schedule_id, fire_time, is_challenge
    tournament = store.tournaments.add(row, field.entries, field.refused)
    store.audit.note("tournament.create", f"tournament:{tournament.id}", by, name=tournament.name)
    return tournament


def change(store: Store, tournament_id: int, document: Mapping[str, Any] | Document, at: datetime) -> TournamentItem:
    """Replace the document of a tournament that has not started.

    Raises SettingsError; NotFoundError; ConflictError if the tournament has started.
    """
    settings = document if isinstance(document, Document) else read(document)
    present = store.tournaments.get(tournament_id)
    check_start(settings, at, present.start_time)
    starts = settings.start_time or max(at, present.start_time)
    if present.fire_time and present.schedule_id:
        starts = present.fire_time.astimezone(ZoneInfo(store.schedules.get(present.schedule_id).timezone))
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
    openings.check(document)
    field = resolve(store, document)
    if field.problems:
        raise SettingsError("; ".join(field.problems), "entries.bots")
    missing = shortage(document, field)
    if missing and (starts <= at or not document.entries.has_query):
        raise SettingsError(missing, "entries")
    return field


def check_start(document: Document, at: datetime, present: datetime | None = None) -> None:
    """Raise SettingsError if the start time of a document has passed, or is too far ahead.

    A tournament that was paused past its `present` start time keeps it.
    """
    starts = document.start_time
    # The form has no seconds.
    if starts is None or (present and abs(starts - present) < timedelta(minutes=1)):
        return
    if starts < at - MAX_LATENESS:
        raise SettingsError(f"{starts.isoformat()} has passed; leave it out to start now", "start_time")
    if starts > at + MAX_ANNOUNCEMENT:
        raise SettingsError(f"must be at most {MAX_ANNOUNCEMENT.days} days ahead", "start_time")


def _row(document: Document, field: ResolvedEntries, starts: datetime, by: int) -> Tournament:
    return Tournament(
        name=name_at(document.name, starts),
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


def name_at(name: str, starts: datetime) -> str:
    """Return the name of a tournament with day and time of its start, in the time zone of `starts`."""
    return name.replace("{date}", f"{starts:%Y-%m-%d}").replace("{time}", f"{starts:%H:%M}")[:120]


def shortage(document: Document, field: ResolvedEntries) -> str:
    """Return why these entries cannot play: they are too few, or may not be paired; empty if they can."""
    system = document.system
    minimum = 0 if system.is_open and document.entries.has_query else system.min_players(document)
    if len(field.entries) >= minimum:
        return field.obstacle
    return f"too few bots: {len(field.entries)} may play, at least {minimum} are needed"


def permanent_ladders(store: Store, families: Iterable[str]) -> list[TournamentItem]:
    owner, wanted = store.samples.owner_id(), set(families)
    live = store.tournaments.in_states("scheduled", "running", "paused", "draining")
    return [
        one for one in live if one.created_by == owner and one.name.endswith(PERMANENT_LADDER) and one.family in wanted
    ]


def ensure_ladders(store: Store, families: Iterable[str], time_control: str, at: datetime) -> list[TournamentItem]:
    """Create the permanent ladders that these families lack, and return those created.

    A cancelled ladder is created again, unless the operator empties the setting `ladder_time_control`.
    """
    wanted = sorted(families)
    present = {ladder.family for ladder in permanent_ladders(store, wanted)}
    owner = store.samples.ensure_owner()
    return [
        create(store, _ladder_document(family, time_control), owner, at) for family in wanted if family not in present
    ]


def _ladder_document(family: str, time_control: str) -> dict[str, Any]:
    return {
        "name": load(family).title + PERMANENT_LADDER,
        "family": family,
        "format": "ladder",
        "time_control": time_control,
        "priority": PRIORITY,
        "entries": {"newest": True},
        "ladder": {"games": 0, "rest_after": GAMES_PER_BOT},
    }
