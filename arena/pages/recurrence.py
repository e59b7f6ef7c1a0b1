"""Schedules in words: the name without placeholders, when a cron expression fires, and a calendar of days."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from arena.documents.schedule import ScheduleItem
from arena.pages.filters import plain
from arena.pages.language import marked, text, translated
from referee.tournament.document_tables import Recurrence

_DAYS = (
    marked("Sunday"),
    marked("Monday"),
    marked("Tuesday"),
    marked("Wednesday"),
    marked("Thursday"),
    marked("Friday"),
    marked("Saturday"),
    "Sunday",
)
_SHORT = {name[:3].lower(): str(number) for number, name in enumerate(_DAYS[:7])}
_PLACEHOLDER = re.compile(r"\s*[-–,(]?\s*\{\w+\}\)?")
_TIMES = re.compile(r"(\d{1,2}) (\d{1,2}(?:,\d{1,2})*)")
_MAX_TIMES = 4
"""Maximum of times of day that are listed."""


def schedule_name(schedule: ScheduleItem) -> str:
    """Return the name of a schedule without the placeholders that its tournaments fill in, such as `{date}`."""
    return plain(_PLACEHOLDER.sub("", schedule.name).strip() or schedule.name, 120)


def schedule_words(schedule: ScheduleItem | Recurrence) -> str:
    """Describe when a schedule fires, such as `every Friday at 20:00 (Europe/Paris)`.

    An expression that has no such description is returned as it is.
    """
    words = _words(schedule.cron)
    return f"{words} ({plain(schedule.timezone, 60)})" if words else plain(f"{schedule.cron} {schedule.timezone}", 160)


@dataclass(frozen=True, slots=True)
class Appointment:
    """A tournament that starts at a time, or a date at which a schedule will create one."""

    at: datetime
    name: str
    address: str


def calendar(appointments: Iterable[Appointment], first: datetime, days: int) -> list[tuple[date, list[Appointment]]]:
    """Return `days` days (UTC) beginning with the day of `first`, each with its appointments in order."""
    start = first.astimezone(UTC).date()
    found: dict[date, list[Appointment]] = {start + timedelta(days=number): [] for number in range(days)}
    for one in sorted(appointments, key=lambda one: one.at):
        if (day := one.at.astimezone(UTC).date()) in found:
            found[day].append(one)
    return list(found.items())


def _words(cron: str) -> str:
    fields = cron.lower().split()
    if len(fields) != 5 or fields[3] != "*":
        return ""
    minute, hour, day, _, weekday = fields
    if (day, weekday) == ("*", "*"):
        return _every_day(minute, hour)
    times = _times(minute, hour)
    if times and day == "*":
        days = _days(weekday)
        return text("%(days)s at %(times)s") % {"days": days, "times": times} if days else ""
    if times and weekday == "*" and day.isdecimal():
        if int(day) == 1:
            return text("on the first of every month at %(times)s") % {"times": times}
        return text("on day %(day)s of every month at %(times)s") % {"day": int(day), "times": times}
    return ""


def _every_day(minute: str, hour: str) -> str:
    if hour == "*" and (step := minute.removeprefix("*/")).isdecimal():
        if step == minute:
            return text("every hour at minute %(minute)s") % {"minute": int(minute)}
        return text("every %(count)s minutes") % {"count": int(step)}
    if hour != (step := hour.removeprefix("*/")) and step.isdecimal() and minute.isdecimal():
        return text("every %(count)s hours at minute %(minute)s") % {"count": int(step), "minute": int(minute)}
    times = _times(minute, hour)
    return text("every day at %(times)s") % {"times": times} if times else ""


def _days(weekday: str) -> str:
    if weekday in ("1-5", "mon-fri"):
        return text("from Monday to Friday")
    days = [_SHORT.get(one[:3], one) for one in weekday.split(",")]
    is_known = all(one.isdecimal() and int(one) <= 7 for one in days)
    if not is_known:
        return ""
    return text("every %(days)s") % {"days": text(" and ").join(translated(_DAYS[int(one)]) for one in days)}


def _times(minute: str, hour: str) -> str:
    if not _TIMES.fullmatch(f"{minute} {hour}"):
        return ""
    hours = hour.split(",")
    return text(" and ").join(f"{int(one):02}:{int(minute):02}" for one in hours) if len(hours) <= _MAX_TIMES else ""
