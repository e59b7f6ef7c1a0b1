"""Schedules as readers see them: next dates and document."""

from __future__ import annotations

from datetime import timedelta

import pytest

from arena.clock import now
from arena.coordinator import cron
from arena.documents.tournament import TournamentQuery
from arena.errors import ForbiddenError, NotFoundError
from arena.services import Arena, schedule, tournament
from arena.store.base.tables.tournaments import Schedule
from tests.arena.field import Field
from tests.arena.services.conftest import Person

WEEKLY = {"name": "Weekly", "family": "loa", "entries": {"bots": ["ada", "bob"]}, "schedule": {"cron": "0 20 * * 5"}}


def test_show_returns_dates_and_toml(arena: Arena, person: Person) -> None:
    Field(arena.store)
    view = schedule.show(arena, schedule.create(arena, WEEKLY, person("olga", "organiser")).id)
    starts = [coming.starts for coming in view.preview.tournaments]
    assert len(starts) == 5
    assert all(date.weekday() == 4 and date > now() for date in starts)
    assert 'name = "Weekly"' in view.text


def test_preview_tells_what_the_next_fire_creates_and_creates_nothing(arena: Arena, person: Person) -> None:
    Field(arena.store)
    by = person("olga", "organiser")
    document = {**WEEKLY, "name": "Cup {date} {time}", "entries": {"newest": True}, "games": 4}
    document["schedule"] = {"cron": "30 2 * * *", "timezone": "Asia/Kathmandu"}  # another day than in UTC
    number = schedule.create(arena, document, by).id
    coming = schedule.preview(arena, number, 3)
    assert len(coming.tournaments) == 3
    assert {str(line.starts.tzinfo) for line in coming.tournaments} == {"Asia/Kathmandu"}
    assert (coming.family, coming.variant, coming.format) == ("loa", "standard", "round-robin")
    assert (coming.problems, coming.refused) == ([], [])
    assert arena.store.tournaments.page(TournamentQuery(schedule=number)).items == []
    schedule.switch(arena, number, False, by)
    disabled = schedule.preview(arena, number, 3)
    assert (disabled.is_enabled, disabled.tournaments) == (False, coming.tournaments)
    schedule.switch(arena, number, True, by)
    (created,) = cron.tick(arena.store, coming.tournaments[0].starts + timedelta(seconds=1))
    assert (created.name, created.start_time) == (coming.tournaments[0].name, coming.tournaments[0].starts)
    assert sorted(entry.name for entry in arena.store.tournaments.entries(created.id)) == sorted(coming.entries)
    bots = len(coming.entries)
    games = bots * (bots - 1) // 2 * 4
    assert coming.least_games == coming.most_games == games


def test_preview_names_what_prevents_a_tournament(arena: Arena, person: Person) -> None:
    Field(arena.store)
    number = schedule.create(arena, {**WEEKLY, "entries": {"bots": ["ada", "gone"]}}, person("olga", "organiser")).id
    problems = schedule.preview(arena, number).problems
    assert any("gone" in problem for problem in problems)
    assert "too few bots: 1 may play, at least 2 are needed" in problems


def test_preview_names_a_bot_that_is_given_twice(arena: Arena, person: Person) -> None:
    Field(arena.store)
    number = schedule.create(arena, {**WEEKLY, "entries": {"bots": ["ada", "ada v1"]}}, person("olga", "organiser")).id
    few = "too few bots: 1 may play, at least 2 are needed"
    assert schedule.preview(arena, number).problems == ["ada v1: is named twice", few]


def test_delete_keeps_the_tournaments_and_frees_the_name(arena: Arena, person: Person) -> None:
    Field(arena.store)
    by = person("olga", "organiser")
    number = schedule.create(arena, WEEKLY, by).id
    fire = schedule.get(arena, number).next_fire
    assert fire is not None
    (created,) = cron.tick(arena.store, fire)
    with pytest.raises(ForbiddenError):
        schedule.delete(arena, number, person("eve", "author"))
    schedule.delete(arena, number, by)
    with pytest.raises(NotFoundError):
        schedule.delete(arena, number, by)
    kept = tournament.get(arena, created.id)
    assert (kept.schedule_id, kept.start_time) == (None, fire)
    assert cron.tick(arena.store, fire + timedelta(days=8)) == []
    assert schedule.create(arena, WEEKLY, by).id
    assert arena.store.audit.page().items[1].action == "schedule.delete"


def test_show_of_an_unreadable_document_is_empty(arena: Arena) -> None:
    field = Field(arena.store)
    row = Schedule(name="Old", cron="0 3 * * *", template={"family": "chess"}, created_by=field.user_id)
    found = schedule.show(arena, arena.store.schedules.add(row).id)
    assert (found.schedule.name, found.document, found.text) == ("Old", None, "")
    assert found.preview.problems
    assert (len(found.preview.tournaments), found.preview.family, found.preview.most_games) == (5, None, None)


def test_page_of_tournaments_is_filtered_by_schedule(arena: Arena, person: Person) -> None:
    Field(arena.store)
    number = schedule.create(arena, WEEKLY, person("olga", "organiser")).id
    assert tournament.page(arena, TournamentQuery(schedule=number)).items == []
    assert len(tournament.page(arena, TournamentQuery()).items) == 1
