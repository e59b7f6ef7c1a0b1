"""Schedules in words: the name without placeholders, and when a cron expression fires."""

from __future__ import annotations

import re

from arena.documents.schedule import ScheduleItem
from arena.pages.filters import plain

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHORT = {name[:3].lower(): str(number) for number, name in enumerate(_DAYS[:7])}
_PLACEHOLDER = re.compile(r"\s*[-–,(]?\s*\{\w+\}\)?")
_TIMES = re.compile(r"(\d{1,2}) (\d{1,2}(?:,\d{1,2})*)")
_MAX_TIMES = 4
"""Maximum of times of day that are listed."""


def schedule_name(schedule: ScheduleItem) -> str:
    """Return the name of a schedule without the placeholders that its tournaments fill in, such as `{date}`."""
    return plain(_PLACEHOLDER.sub("", schedule.name).strip() or schedule.name, 120)


def schedule_words(schedule: ScheduleItem) -> str:
    """Describe when a schedule fires, such as `every Friday at 20:00 (Europe/Paris)`.

    An expression without words of its own is shown as it is.
    """
    words = _words(schedule.cron)
    return f"{words} ({plain(schedule.timezone, 60)})" if words else plain(f"{schedule.cron} {schedule.timezone}", 160)


def _words(cron: str) -> str:
    fields = cron.lower().split()
    if len(fields) != 5:
        return ""
    minute, hour, day, month, weekday = fields
    if month != "*":
        return ""
    if (day, weekday) == ("*", "*") and minute.isdecimal():
        if hour == "*":
            return f"every hour at minute {int(minute)}"
        if (step := hour.removeprefix("*/")).isdecimal() and hour != step:
            return f"every {int(step)} hours at minute {int(minute)}"
    if (day, weekday, hour) == ("*", "*", "*") and (step := minute.removeprefix("*/")).isdecimal():
        return f"every {int(step)} minutes"
    times = _times(minute, hour)
    if not times:
        return ""
    if day == "*" and weekday == "*":
        return f"every day at {times}"
    if day == "*":
        days = [_SHORT.get(one[:3], one) for one in weekday.split(",")]
        if all(one.isdecimal() and int(one) <= 7 for one in days):
            return f"every {' and '.join(_DAYS[int(one)] for one in days)} at {times}"
        return {"1-5": f"from Monday to Friday at {times}"}.get(weekday, "")
    if weekday == "*" and day.isdecimal():
        return f"on day {int(day)} of every month at {times}"
    return ""


def _times(minute: str, hour: str) -> str:
    if not _TIMES.fullmatch(f"{minute} {hour}"):
        return ""
    hours = hour.split(",")
    return " and ".join(f"{int(one):02}:{int(minute):02}" for one in hours) if len(hours) <= _MAX_TIMES else ""
