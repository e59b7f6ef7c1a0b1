"""Tournaments: states, entries, lists; schedules."""

from __future__ import annotations

from datetime import timedelta

import pytest

from arena.documents.tournament import TournamentQuery
from arena.errors import ConflictError, NotFoundError
from arena.store import Store
from arena.store.base.tables.tournaments import Schedule, Tournament
from tests.arena.field import START, Field


def test_move_allows_only_following_states(store: Store, field: Field) -> None:
    number = field.tournament_id
    assert field.tournament.started_at is not None
    for state in ("paused", "running", "draining", "paused", "running", "finished"):
        assert store.tournaments.move(number, state).state == state
    assert store.tournaments.get(number).finished_at is not None
    with pytest.raises(ConflictError, match="is finished; it cannot become paused") as caught:
        store.tournaments.move(number, "paused")
    assert caught.value.state == "finished"
    with pytest.raises(ConflictError):
        store.tournaments.move(number, "running", only_from=("paused",))
    with pytest.raises(NotFoundError):
        store.tournaments.move(10**6, "paused")
    assert store.tournaments.counts() == {"finished": 1}


def test_enter_and_withdraw_entries(store: Store, field: Field) -> None:
    entries = store.tournaments.entries(field.tournament_id)
    assert [(entry.seat, entry.name) for entry in entries] == [
        (0, "ada v1"),
        (1, "bob v1"),
        (2, "cleo v1"),
        (3, "dan v1"),
    ]
    late = field.version("eve")
    assert store.tournaments.enter(field.tournament_id, late.id or 0, "late") == 4
    with pytest.raises(ConflictError, match="already"):
        store.tournaments.enter(field.tournament_id, late.id or 0, "again")
    store.tournaments.withdraw(field.tournament_id, late.id or 0)
    store.tournaments.withdraw(field.tournament_id, late.id or 0)
    assert store.tournaments.entries(field.tournament_id)[-1].withdrawn is not None


def test_page_is_latest_first(store: Store, field: Field) -> None:
    for days in range(1, 6):
        field.add_tournament("tablut" if days % 2 else "loa", start_time=START + timedelta(days=days))
    field.add_tournament(start_time=START + timedelta(days=5))  # the same time: the later one first
    listed, after = [], None
    while True:
        page = store.tournaments.page(TournamentQuery(limit=2, after=after))
        listed += page.items
        after = page.next
        if after is None:
            break
    keys = [(tournament.start_time, tournament.id or 0) for tournament in listed]
    assert keys == sorted(keys, reverse=True)
    assert len(listed) == 7
    assert len(store.tournaments.page(TournamentQuery(family="tablut")).items) == 3
    assert len(store.tournaments.page(TournamentQuery(state="running", family="loa")).items) == 4
    assert store.tournaments.page(TournamentQuery(state="paused")).items == []
    assert len(store.tournaments.in_states("running", "paused")) == 7


def test_schedule_fires_once(store: Store, field: Field) -> None:
    schedule = store.schedules.add(
        Schedule(name="daily", cron="0 3 * * *", next_fire=START, created_by=field.user_id, template={"family": "loa"})
    )
    assert schedule.id is not None
    with pytest.raises(ConflictError):
        store.schedules.add(Schedule(name="daily", cron="0 3 * * *", created_by=field.user_id))
    assert [due.name for due in store.schedules.due(START)] == ["daily"]
    later = START + timedelta(days=1)
    assert store.schedules.fired(schedule.id, START, later)
    assert not store.schedules.fired(schedule.id, START, later)
    assert store.schedules.due(START) == []

    def create() -> None:
        store.tournaments.add(
            Tournament(
                name="daily",
                family="loa",
                variant="standard",
                format="swiss",
                pool="loa",
                start_time=START,
                created_by=field.user_id,
                schedule_id=schedule.id,
                fire_time=START,
            ),
            [],
        )

    create()
    with pytest.raises(ConflictError):
        create()
    store.schedules.enable(schedule.id, False)
    assert store.schedules.due(later) == []
    assert store.schedules.get(schedule.id).next_fire is None
