"""Documents are read from the JSON of the interface."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from arena.cli.terminal.printer import read_document
from arena.documents.schedule import ScheduleItem
from arena.errors import BadValueError

SCHEDULE: dict[str, Any] = {
    "id": 1,
    "name": "weekly",
    "cron": "0 20 * * 5",
    "timezone": "UTC",
    "catch_up": "once",
    "template": {"family": "loa"},
    "is_enabled": True,
    "next_fire": "2026-11-27T20:00:00Z",
    "created_at": "2026-11-20T20:00:00+00:00",
    "new": "unknown keys are of a newer server",
}


def test_times_are_read_and_hidden_fields_are_none() -> None:
    schedule = read_document(ScheduleItem, SCHEDULE)
    assert schedule.next_fire == datetime(2026, 11, 27, 20, tzinfo=UTC)
    assert schedule.created_by is None
    assert read_document(ScheduleItem, {**SCHEDULE, "next_fire": None}).next_fire is None


def test_missing_field_is_an_error_that_names_it() -> None:
    with pytest.raises(BadValueError, match="no 'cron' in a ScheduleItem"):
        read_document(ScheduleItem, {key: value for key, value in SCHEDULE.items() if key != "cron"})
