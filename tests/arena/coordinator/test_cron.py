"""Cron expressions in time zones, changes of clocks, and catching up after downtime."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.coordinator.cron import LATE_AFTER, MAX_CATCH_UP, dates, due, fires, next_fire
from arena.store.base.tables.tournaments import Schedule
from referee.tournament.part import SettingsError


def at(text: str) -> datetime:
    """Parse a time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def first(cron: str, zone: str, after: str, count: int) -> list[str]:
    """Return the first fires as short texts."""
    return [f"{fire:%m-%d %H:%M}" for fire in islice(fires(cron, zone, at(after)), count)]


def test_a_time_zone_is_kept_through_the_year() -> None:
    assert first("0 20 * * *", "Europe/Paris", "2027-01-10", 1) == ["01-10 19:00"]
    assert first("0 20 * * *", "Europe/Paris", "2027-07-10", 1) == ["07-10 18:00"]


def test_a_skipped_hour_fires_when_the_clocks_have_changed() -> None:
    assert first("30 2 * * *", "Europe/Paris", "2027-03-27T12:00", 2) == ["03-28 01:00", "03-29 00:30"]


def test_a_repeated_hour_fires_once_unless_the_schedule_is_hourly() -> None:
    assert first("30 2 * * *", "Europe/Paris", "2027-10-30T12:00", 2) == ["10-31 00:30", "11-01 01:30"]
    assert first("0 * * * *", "Europe/Paris", "2027-10-30T23:30", 3) == ["10-31 00:00", "10-31 01:00", "10-31 02:00"]


EVERY_HOUR = ("0 * * * *", "0 0-23 * * *", "0 */1 * * *", "0 0-23/1 * * *", f"0 {','.join(map(str, range(24)))} * * *")
EVERY_SECOND_HOUR = (
    "0 */2 * * *",
    "0 0-23/2 * * *",
    "0 0-22/2 * * *",
    f"0 {','.join(map(str, range(0, 24, 2)))} * * *",
)


@pytest.mark.parametrize("cron", EVERY_HOUR)
def test_every_hour_goes_on_through_both_changes_however_it_is_spelt(cron: str) -> None:
    spring = first(cron, "Europe/Paris", "2027-03-27T23:30", 4)
    assert spring == ["03-28 00:00", "03-28 01:00", "03-28 02:00", "03-28 03:00"]
    autumn = first(cron, "Europe/Paris", "2027-10-30T22:30", 4)
    assert autumn == ["10-30 23:00", "10-31 00:00", "10-31 01:00", "10-31 02:00"]


@pytest.mark.parametrize("cron", EVERY_SECOND_HOUR)
def test_every_second_hour_fires_by_the_clock_however_it_is_spelt(cron: str) -> None:
    spring = first(cron, "Europe/Paris", "2027-03-27T23:30", 3)
    assert spring == ["03-28 01:00", "03-28 02:00", "03-28 04:00"]  # 02:00 is skipped: 03:00, then 04:00 and 06:00
    autumn = first(cron, "Europe/Paris", "2027-10-30T21:30", 3)
    assert autumn == ["10-30 22:00", "10-31 00:00", "10-31 03:00"]  # 00:00, the first 02:00, 04:00


def test_times_within_a_skipped_hour_fire_once() -> None:
    assert first("*/20 2 * * *", "Europe/Paris", "2027-03-27T12:00", 2) == ["03-28 01:00", "03-29 00:00"]


def test_a_skipped_half_hour_and_a_skipped_day_fire_when_the_clocks_have_changed() -> None:
    assert first("15 2 * * *", "Australia/Lord_Howe", "2027-10-02T12:00", 1) == ["10-02 15:30"]
    assert first("0 20 * * 5", "Pacific/Apia", "2011-12-29", 2) == ["12-30 10:00", "01-06 06:00"]


def test_every_hour_from_within_the_repeated_hour_misses_none() -> None:
    assert first("*/30 * * * *", "Europe/Paris", "2027-10-31T00:40", 3) == ["10-31 01:00", "10-31 01:30", "10-31 02:00"]


def test_dates_for_people_are_in_the_zone_of_the_schedule() -> None:
    (date,) = dates("0 20 * * 5", "America/Los_Angeles", at("2027-01-08"), 1)
    assert date.isoformat() == "2027-01-08T20:00:00-08:00"


@pytest.mark.parametrize("cron", ["", "x", "* * * *", "* * * * * *", "@daily", "61 * * * *", "R * * * *", "H H * * *"])
def test_an_invalid_cron_expression_is_rejected(cron: str) -> None:
    with pytest.raises(SettingsError, match="cron"):
        next_fire(cron, "UTC", at("2027-01-01"))


@pytest.mark.parametrize("zone", ["", "Nowhere", "../../etc/passwd", "/etc/passwd", "Europe", "\0", "é" * 300])
def test_an_invalid_time_zone_is_rejected(zone: str) -> None:
    with pytest.raises(SettingsError, match="time zone"):
        next_fire("0 0 * * *", zone, at("2027-01-01"))


def test_a_schedule_that_never_fires_is_rejected() -> None:
    assert next_fire("0 0 30 2 *", "UTC", at("2027-01-01")) is None


@given(
    st.sampled_from(
        ["*/7 * * * *", "15 3 * * 1", "0 0 1 * *", "59 23 31 12 *", "30 2 * * *", "*/9 */2 * * *", "5 0-23 * * *"]
    ),
    st.sampled_from(["UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
    st.datetimes(datetime(2026, 1, 1), datetime(2030, 1, 1)),
)
def test_fires_are_ordered_and_independent_of_the_start(cron: str, zone: str, start: datetime) -> None:
    after = start.replace(tzinfo=UTC)
    found = list(islice(fires(cron, zone, after), 4))
    assert all(one < two for one, two in zip([after, *found], found, strict=False))
    assert next_fire(cron, zone, found[0]) == found[1]
    assert next_fire(cron, zone, found[1] - timedelta(microseconds=1)) == found[1]


def schedule(missed: str, cron: str = "0 * * * *", coming: str = "2027-05-01T10:00") -> Schedule:
    """Return an hourly schedule."""
    return Schedule(name="s", cron=cron, timezone="UTC", catch_up=missed, next_fire=at(coming), created_by=1)


@pytest.mark.parametrize("missed", ["skip", "once", "all"])
def test_on_time_every_policy_fires_once(missed: str) -> None:
    assert due(schedule(missed), at("2027-05-01T09:59")) == ([], at("2027-05-01T10:00"))
    assert due(schedule(missed), at("2027-05-01T10:00:02")) == ([at("2027-05-01T10:00")], at("2027-05-01T11:00"))


def test_after_downtime_the_policy_decides() -> None:
    now = at("2027-05-01T14:30")
    hours = [at(f"2027-05-01T{hour}:00") for hour in range(10, 15)]
    assert due(schedule("skip"), now) == ([], at("2027-05-01T15:00"))
    assert due(schedule("once"), now) == ([hours[-1]], at("2027-05-01T15:00"))
    assert due(schedule("all"), now) == (hours, at("2027-05-01T15:00"))
    assert due(schedule("skip"), hours[-1] + LATE_AFTER) == ([hours[-1]], at("2027-05-01T15:00"))


def test_a_year_of_downtime_is_bounded_in_fires_and_in_work() -> None:
    fired, coming = due(schedule("all", "* * * * *"), at("2028-05-01T10:00:30"))
    assert (len(fired) >= MAX_CATCH_UP, fired[-1], coming) == (True, at("2028-05-01T10:00"), at("2028-05-01T10:01"))
    assert len(fired) == MAX_CATCH_UP
    yearly, _ = due(schedule("all", "0 10 1 5 *"), at("2030-06-01"))
    assert [fire.year for fire in yearly] == [2027, 2028, 2029, 2030]
