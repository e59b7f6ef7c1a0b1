"""Schedules in words, and the calendar of what comes."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from arena.documents.schedule import ScheduleItem
from arena.pages.recurrence import Appointment, calendar, schedule_name, schedule_words
from tests.arena.pages.conftest import Site, window


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


def test_times_to_come_are_in_the_zone_of_the_reader_everywhere(site: Site, browser: Any) -> None:
    with window(browser, timezone_id="Pacific/Kiritimati", locale="en-GB") as page:  # 14 hours before UTC
        page.goto(f"{site.url}/tournaments")
        day = page.locator(".calendar li:has(ul):has-text('Fridays') b").first
        there = ZoneInfo("Europe/Paris")
        now = datetime.now(there)
        friday = (now + timedelta(days=(4 - now.weekday()) % 7)).replace(hour=20, minute=0, second=0, microsecond=0)
        here = (friday if friday > now else friday + timedelta(days=7)).astimezone(ZoneInfo("Pacific/Kiritimati"))
        assert here.weekday() == 5
        assert page.inner_text(".calendar li:has-text('Fridays') time") == f"{here:%H:%M}"
        assert day.inner_text() == f"Sat {here.day} {here:%b}".replace("Sep", "Sept")  # not Sat, Dec 5
        assert page.inner_text(".calendar + p") == "Days and times are in your time zone: Pacific/Kiritimati."
        assert page.inner_text("[data-local] >> nth=-1").startswith("Times are in your time zone: Pacific/Kiritimati.")
        page.goto(f"{site.url}/schedules/{site.stage.schedule}")
        first = page.locator(".programme time").first.inner_text()
        assert re.fullmatch(rf"Sat,? {here.day} \w+ {here.year},? (at )?{here:%H:%M} GMT\+14", first), first
        assert page.locator(".programme time").first.get_attribute("title").startswith("Saturday")


def test_times_to_come_are_in_utc_without_scripts(site: Site) -> None:
    assert "Days and times of the calendar are in UTC." in site.server.get("/tournaments").body.decode()
    page = site.server.get(f"/schedules/{site.stage.schedule}").body.decode()
    assert re.search(r"data-zoned>Fri, \w+ \d+ \d{4}-\d\d-\d\d 1[89]:00 UTC</time>", page)
