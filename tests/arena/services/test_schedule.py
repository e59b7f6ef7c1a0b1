"""Schedules as readers see them: next dates and document."""

from __future__ import annotations

from arena.clock import now
from arena.documents.tournament import TournamentQuery
from arena.services import Arena, schedule, tournament
from arena.store.base.models import Schedule
from tests.arena.field import Field
from tests.arena.services.conftest import Person

WEEKLY = {"name": "Weekly", "family": "loa", "entries": {"bots": ["ada", "bob"]}, "schedule": {"cron": "0 20 * * 5"}}


def test_show_returns_dates_and_toml(arena: Arena, person: Person) -> None:
    Field(arena.store)
    by = person("olga", "organiser")
    number = schedule.create(arena, WEEKLY, by).id
    found = schedule.show(arena, number)
    assert len(found.dates) == schedule.UPCOMING
    assert all(date.weekday() == 4 and date > now() for date in found.dates)
    assert 'name = "Weekly"' in found.text
    schedule.switch(arena, number, False, by)
    assert schedule.show(arena, number).dates == []


def test_show_of_an_unreadable_document_is_empty(arena: Arena) -> None:
    field = Field(arena.store)
    row = Schedule(name="Old", cron="0 3 * * *", template={"family": "chess"}, created_by=field.user_id)
    found = schedule.show(arena, arena.store.schedules.add(row).id)
    assert (found.schedule.name, found.dates, found.text) == ("Old", [], "")


def test_page_of_tournaments_is_filtered_by_schedule(arena: Arena, person: Person) -> None:
    Field(arena.store)
    number = schedule.create(arena, WEEKLY, person("olga", "organiser")).id
    assert tournament.page(arena, TournamentQuery(schedule=number)).items == []
    assert len(tournament.page(arena, TournamentQuery()).items) == 1
