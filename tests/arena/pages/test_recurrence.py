"""Schedules in words, and the calendar of what comes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from arena.documents.tournament import ScheduleItem
from arena.pages.recurrence import Appointment, calendar, schedule_name, schedule_words


def schedule(cron: str, name: str = "Friday {date}") -> ScheduleItem:
    known: dict[str, Any] = {
        "id": 1,
        "catch_up": "skip",
        "template": {},
        "is_enabled": True,
        "next_fire": None,
        "created_by": 1,
    }
    return ScheduleItem(name=name, cron=cron, timezone="Europe/Paris", created_at=datetime.now(UTC), **known)


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("0 20 * * 5", "every Friday at 20:00"),
        ("30 9,21 * * *", "every day at 09:30 and 21:30"),
        ("0 20 * * sat,0", "every Saturday and Sunday at 20:00"),
        ("15 8 * * 1-5", "from Monday to Friday at 08:15"),
        ("0 */6 * * *", "every 6 hours at minute 0"),
        ("5 * * * *", "every hour at minute 5"),
        ("*/10 * * * *", "every 10 minutes"),
        ("0 12 1 * *", "on the first of every month at 12:00"),
        ("0 12 15 * *", "on day 15 of every month at 12:00"),
    ],
)
def test_schedule_words_for_a_usual_expression_name_its_times(cron: str, words: str) -> None:
    assert schedule_words(schedule(cron)) == f"{words} (Europe/Paris)"


@pytest.mark.parametrize("cron", ["0 12 1 6 *", "0 12 1 * 5", "1-9 12 * * *", "0 20 * * 5#2"])
def test_schedule_words_for_another_expression_show_it(cron: str) -> None:
    assert schedule_words(schedule(cron)) == f"{cron} Europe/Paris"


@pytest.mark.parametrize(
    ("name", "shown"), [("Friday {date}", "Friday"), ("Cup ({date})", "Cup"), ("{date}", "{date}"), ("Night", "Night")]
)
def test_schedule_name_has_no_placeholders(name: str, shown: str) -> None:
    assert schedule_name(schedule("0 20 * * 5", name)) == shown


def test_calendar_sorts_appointments_into_days_and_leaves_others_out() -> None:
    at = [datetime(2026, 11, 27, hour, tzinfo=UTC) for hour in (20, 8)]
    late = datetime(2026, 12, 9, tzinfo=UTC)
    days = calendar([Appointment(one, str(one.hour), "/") for one in (*at, late)], at[0], 3)
    assert [(day.day, [one.name for one in found]) for day, found in days] == [(27, ["8", "20"]), (28, []), (29, [])]
