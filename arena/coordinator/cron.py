"""Recurring tournaments: when a cron expression fires in its time zone, and which missed fires are caught up.

Each fire is stored with UNIQUE(schedule, time), so that firing twice, in two processes or after a crash, has no effect.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import Any
from zoneinfo import ZoneInfo

from croniter import croniter

from arena.documents.schedule import ScheduleItem
from arena.documents.tournament import TournamentItem
from arena.errors import ConflictError
from arena.store import Store
from arena.store.base.tables.tournaments import Schedule
from arena.tournaments.creation import create as create_tournament
from referee.tournament import openings
from referee.tournament.document import Document, read
from referee.tournament.document_tables import Recurrence
from referee.tournament.part import SettingsError

LATE_AFTER = timedelta(minutes=5)
"""A fire later than this counts as missed."""
MAX_CATCH_UP = 50
"""Maximum number of missed fires that are caught up: the latest ones."""
_HORIZON = timedelta(days=5 * 366)
"""Time within which a schedule must fire for the first time: long enough for a 29 February."""
_WINDOWS = (timedelta(days=1), timedelta(days=60), timedelta(days=36_600))
"""Times back from now in which missed fires are looked for, until there are enough: frequent fires need a short one."""
_RANDOM = re.compile(r"(?<![a-z])[hr](?![a-z])", re.IGNORECASE)
"""Random fields, which croniter would resolve to another time on each call."""


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone by its IANA name. Raises SettingsError."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        pass
    raise SettingsError(f"invalid time zone {name!r}; write a name such as Europe/Paris, or UTC", "schedule.timezone")


def fires(cron: str, zone: str, after: datetime) -> Iterator[datetime]:
    """Yield the times (UTC), later than `after`, at which a cron expression of five fields fires. Raises SettingsError.

    A time that a change of clocks skips fires as soon as the clocks have changed; a time that occurs twice fires the
    first time. An expression of every hour, however it is spelt, instead fires hour by hour through both changes.
    """
    time_zone = zone_of(zone)
    if len(cron.split()) != 5 or _RANDOM.search(cron) or not croniter.is_valid(cron):
        raise SettingsError(f"not a cron expression: {cron!r}; write minute hour day month weekday", "schedule.cron")
    return _fires(cron, time_zone, after)


def _fires(cron: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    is_hourly = croniter.expand(cron)[0][1] == ["*"]  # also for 0-23 and */1: croniter reduces them to *
    source = croniter(cron, _earliest_clock(zone, after), max_years_between_matches=10)
    last, again = after, deque[datetime]()
    try:
        while True:
            # croniter sees clock times without a zone: its own treatment of changes depends on the spelling.
            clock = source.get_next(datetime).replace(tzinfo=zone)
            first, second = clock.astimezone(UTC), clock.replace(fold=1).astimezone(UTC)
            if first > second:  # skipped by a change of clocks
                if is_hourly:
                    continue
                first = _change_between(zone, second, first)
            while again and again[0] < first:
                last = again.popleft()
                yield last
            if first > last:
                last = first
                yield last
            if is_hourly and second > max(first, after):
                again.append(second)
    except ValueError:  # errors of croniter are ValueErrors: it never fires again
        return


def _earliest_clock(zone: ZoneInfo, after: datetime) -> datetime:
    """Return the earliest time that a clock shows after `after`: it may be turned back."""
    clock, next_day = after.astimezone(zone), (after + timedelta(days=1)).astimezone(zone)
    back = (clock.utcoffset() or timedelta()) - (next_day.utcoffset() or timedelta())
    return clock.replace(tzinfo=None) - max(back, timedelta())


def _change_between(zone: ZoneInfo, before: datetime, until: datetime) -> datetime:
    """Return the first second after `before` (UTC) at which the clocks show the offset of `until`."""
    offset = until.astimezone(zone).utcoffset()
    while until - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(until - before) // timedelta(seconds=2))
        if middle.astimezone(zone).utcoffset() == offset:
            until = middle
        else:
            before = middle
    return until


def next_fire(cron: str, zone: str, after: datetime) -> datetime | None:
    """Return the first fire later than `after`, or None if the schedule never fires again. Raises SettingsError."""
    return next(fires(cron, zone, after), None)


def due(schedule: ScheduleItem, at: datetime) -> tuple[list[datetime], datetime | None]:
    """Return the fires to catch up now, and the next one to wait for.

    Of the fires that have passed, `skip` catches up the latest if it is at most `LATE_AFTER` late, `once` the latest in
    any case, and `all` the latest `MAX_CATCH_UP`.
    """
    waited_for = schedule.next_fire
    if waited_for is None or waited_for > at:
        return [], waited_for
    passed: list[datetime] = []
    for window in _WINDOWS:
        # `fires` yields what is later than `begin`: a second earlier includes the fire that was waited for.
        begin = max(waited_for - timedelta(seconds=1), at - window)
        passed = list(takewhile(lambda fire: fire <= at, fires(schedule.cron, schedule.timezone, begin)))
        if begin < waited_for or len(passed) >= MAX_CATCH_UP:
            break
    upcoming_fire = next_fire(schedule.cron, schedule.timezone, at)
    if schedule.catch_up == "skip":
        return [fire for fire in passed[-1:] if at - fire <= LATE_AFTER], upcoming_fire
    return passed[-1:] if schedule.catch_up == "once" else passed[-MAX_CATCH_UP:], upcoming_fire


def create(store: Store, document: Mapping[str, Any] | Document, by: int, at: datetime) -> ScheduleItem:
    """Store a schedule from a settings document with a table `[schedule]`. Raises SettingsError, ConflictError."""
    schedule = store.schedules.add(_row(document, by, at))
    store.audit.note("schedule.create", f"schedule:{schedule.id}", by, name=schedule.name)
    return schedule


def change(
    store: Store, schedule_id: int, document: Mapping[str, Any] | Document, by: int, at: datetime
) -> ScheduleItem:
    """Replace the settings document of a schedule; its existing tournaments stay as they are.

    Raises SettingsError, NotFoundError, TakenError.
    """
    schedule = store.schedules.change(schedule_id, _row(document, by, at))
    store.audit.note("schedule.change", f"schedule:{schedule_id}", by, name=schedule.name)
    return schedule


def upcoming(document: Document, at: datetime, count: int = 5) -> list[datetime]:
    """Return the next dates of a schedule; empty if it has no table `[schedule]`. Raises SettingsError."""
    if document.schedule is None:
        return []
    _first_fire(document.schedule, at)
    return dates(document.schedule.cron, document.schedule.timezone, at, count)


def dates(cron: str, zone: str, after: datetime, count: int = 5) -> list[datetime]:
    """Return the next `count` fires in their time zone, for people to read. Raises SettingsError."""
    time_zone = zone_of(zone)
    return [fire.astimezone(time_zone) for fire in islice(fires(cron, zone, after), count)]


def _row(document: Mapping[str, Any] | Document, by: int, at: datetime) -> Schedule:
    settings = document if isinstance(document, Document) else read(document)
    if settings.schedule is None:
        raise SettingsError("add a table [schedule] with a cron expression", "schedule")
    openings.check(settings)
    first_fire = _first_fire(settings.schedule, at)
    return Schedule(
        name=settings.name[:80],
        cron=settings.schedule.cron,
        timezone=settings.schedule.timezone,
        catch_up=settings.schedule.catch_up,
        template=settings.as_json(),
        next_fire=first_fire,
        created_by=by,
    )


def _first_fire(schedule: Recurrence, at: datetime) -> datetime:
    """Return when a schedule fires first. Raises SettingsError if it never does."""
    first_fire = next_fire(schedule.cron, schedule.timezone, at)
    if first_fire is None or first_fire > at + _HORIZON:
        raise SettingsError(f"{schedule.cron!r} never fires", "schedule.cron")
    return first_fire


def enable(store: Store, schedule_id: int, is_enabled: bool, by: int, at: datetime) -> ScheduleItem:
    """Enable a schedule from its next fire time on, or disable it. Raises NotFoundError."""
    schedule = store.schedules.get(schedule_id)
    upcoming_fire = next_fire(schedule.cron, schedule.timezone, at) if is_enabled else None
    changed = store.schedules.enable(schedule_id, is_enabled, upcoming_fire)
    store.audit.note("schedule.enable" if is_enabled else "schedule.disable", f"schedule:{schedule_id}", by)
    return changed


def delete(store: Store, schedule_id: int, by: int) -> None:
    """Delete a schedule; the tournaments that it has created remain. Raises NotFoundError."""
    schedule = store.schedules.delete(schedule_id)
    store.audit.note("schedule.delete", f"schedule:{schedule_id}", by, name=schedule.name)


def tick(store: Store, at: datetime) -> list[TournamentItem]:
    """Create the tournaments of all due schedules, except those that exist already."""
    created = []
    for schedule in store.schedules.due(at):
        fired, upcoming_fire = due(schedule, at)
        for fire in fired:
            try:
                created.append(_fire(store, schedule, fire, at))
            except ConflictError:  # another process, or this one before it was killed
                continue
            except SettingsError as error:  # no longer valid: bots may be gone, rules renamed
                store.audit.note("schedule.failed", f"schedule:{schedule.id}", None, problem=str(error))
        # Last: after a crash before this line the fires are found again, and exist already.
        store.schedules.fired(schedule.id, schedule.next_fire, upcoming_fire)
    return created


def _fire(store: Store, schedule: ScheduleItem, fire: datetime, at: datetime) -> TournamentItem:
    start = fire.astimezone(zone_of(schedule.timezone))  # the tournament's name tells the time of this zone
    return create_tournament(
        store, schedule.template, schedule.created_by, at, schedule_id=schedule.id, fire_time=start
    )
