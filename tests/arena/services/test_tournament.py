"""Tournaments and schedules: create, steer, extend, enter and withdraw."""

from __future__ import annotations

from statistics import fmean

import pytest

from arena.documents.game import GameQuery
from arena.documents.service import AuditQuery
from arena.documents.tournament import EntryItem, PlanQuery, TournamentItem
from arena.errors import BadValueError, ConflictError, ForbiddenError, NotFoundError
from arena.services import Arena, schedule, tournament
from arena.store.base.tables.tournaments import Tournament
from referee.tournament.document import read
from referee.tournament.match import PlanItem
from tests.arena.field import Field
from tests.arena.services.conftest import Person
from tests.arena.services.ear import Ear

DOCUMENT = {"name": "Open", "family": "loa", "entries": {"bots": ["ada", "bob"]}, "start_time": "2100-01-01T00:00:00Z"}
SOON = {name: value for name, value in DOCUMENT.items() if name != "start_time"}


@pytest.fixture
def field(arena: Arena) -> Field:
    return Field(arena.store)


@pytest.fixture
def open_one(arena: Arena, field: Field, person: Person) -> TournamentItem:
    return tournament.create(arena, SOON, person("olga", "organiser"))


def test_only_organisers_change_tournaments(arena: Arena, field: Field, person: Person, ear: Ear) -> None:
    author = person("author")
    for act in (
        lambda: tournament.create(arena, SOON, author),
        lambda: tournament.steer(arena, field.tournament_id, "cancel", author),
        lambda: tournament.extend(arena, field.tournament_id, author, amount=2),
        lambda: tournament.enter(arena, field.tournament_id, "ada", None, author),
        lambda: tournament.withdraw(arena, field.tournament_id, "ada", None, author),
        lambda: schedule.create(arena, {**SOON, "schedule": {"cron": "0 20 * * 5"}}, author),
        lambda: schedule.switch(arena, 1, True, author),
    ):
        with pytest.raises(ForbiddenError, match="only organisers"):
            act()
    assert ear.heard == []


def test_steer_changes_state_and_wakes_coordinator(
    arena: Arena, open_one: TournamentItem, person: Person, ear: Ear
) -> None:
    by, number = person("otto", "organiser"), open_one.id
    assert ear.heard == ["CoordinatorWakeup"]
    assert tournament.steer(arena, number, "pause", by).state == "paused"
    assert tournament.steer(arena, number, "resume", by).state == "scheduled"
    assert tournament.steer(arena, number, "cancel", by).state == "cancelled"
    assert ear.heard == ["CoordinatorWakeup"] * 4
    with pytest.raises(ConflictError):
        tournament.steer(arena, number, "start", by)
    with pytest.raises(BadValueError, match="'explode'") as caught:
        tournament.steer(arena, number, "explode", by)
    assert caught.value.field == "verb"
    with pytest.raises(NotFoundError):
        tournament.steer(arena, 99, "pause", by)
    assert ear.heard == ["CoordinatorWakeup"] * 4
    done = [note.action for note in arena.store.audit.page(AuditQuery(user=by.name)).items]
    assert done == ["tournament.cancel", "tournament.resume", "tournament.pause"]


def test_enter_and_withdraw(arena: Arena, open_one: TournamentItem, person: Person) -> None:
    by, number = person("otto", "organiser"), open_one.id
    tournament.enter(arena, number, "cleo", None, by)
    tournament.withdraw(arena, number, "ada", 1, by)
    assert [line.bot for line in arena.store.tournaments.entries(number) if line.withdrawn is None] == ["bob", "cleo"]
    notes = arena.store.audit.page(AuditQuery(user=by.name)).items
    assert [(note.action, note.subject, note.detail) for note in notes] == [
        ("tournament.withdraw", f"tournament:{number}", {"version": "ada v1"}),
        ("tournament.enter", f"tournament:{number}", {"version": "cleo v1"}),
    ]
    with pytest.raises(NotFoundError, match="nobody"):
        tournament.enter(arena, number, "nobody", None, by)


def test_extend_adds_games(arena: Arena, open_one: TournamentItem, person: Person) -> None:
    by, number = person("otto", "organiser"), open_one.id
    assert tournament.extend(arena, number, by, amount=2) == PlanItem(4, games_per_pairing=4, rounds=2)
    assert tournament.extend(arena, number, by, to=10) == PlanItem(10, games_per_pairing=10, rounds=5)
    notes = arena.store.audit.page(AuditQuery(user=by.name)).items
    assert [(note.action, note.detail) for note in notes] == [
        ("tournament.extend", {"to": 10}),
        ("tournament.extend", {"amount": 2}),
    ]


def test_extend_keeps_what_somebody_else_changes_meanwhile(
    arena: Arena, open_one: TournamentItem, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries, others = arena.store.tournaments.entries, [1, 2]

    def changed_meanwhile(number: int) -> list[EntryItem]:
        if others:
            arena.store.tournaments.prioritise(number, others.pop())
        return entries(number)

    monkeypatch.setattr(arena.store.tournaments, "entries", changed_meanwhile)
    tournament.extend(arena, open_one.id, person("otto", "organiser"), amount=2)
    settings = arena.store.tournaments.get(open_one.id).settings
    assert (settings["priority"], settings["games"]) == (1, 4)


def playing(arena: Arena, number: int) -> list[str]:
    """Return the playing entries in seat order."""
    return [line.name for line in arena.store.tournaments.entries(number) if not line.withdrawn]


def test_withdraw_accepts_version_names_and_suggests_similar_ones(
    arena: Arena, field: Field, open_one: TournamentItem, person: Person
) -> None:
    by, number = person("otto", "organiser"), open_one.id
    tournament.enter(arena, number, "cleo v1", None, by)
    with pytest.raises(NotFoundError, match="no entry 'boob'") as missing:
        tournament.withdraw(arena, number, "boob", None, by)
    assert missing.value.hint == "did you mean bob?"
    with pytest.raises(NotFoundError) as unknown:
        tournament.withdraw(arena, number, "ada v7", None, by)
    assert "ada v1" in unknown.value.hint
    with pytest.raises(BadValueError, match="is not version 2"):
        tournament.withdraw(arena, number, "ada v1", 2, by)
    tournament.withdraw(arena, number, "ada v1", None, by)
    assert [line.name for line in arena.store.tournaments.entries(number) if not line.withdrawn] == [
        "bob v1",
        "cleo v1",
    ]


def test_withdraw_by_bot_withdraws_the_playing_version(arena: Arena, field: Field, person: Person) -> None:
    by = person("otto", "organiser")
    document = {**SOON, "entries": {"bots": ["ada v1", "bob", "cleo"]}}
    number = tournament.create(arena, document, by).id or 0
    field.version("ada")
    tournament.enter(arena, number, "ada", None, by)
    assert playing(arena, number) == ["ada v1", "bob v1", "cleo v1", "ada v2"]
    with pytest.raises(BadValueError, match="several versions of ada play: ada v1 and ada v2"):
        tournament.withdraw(arena, number, "ada", None, by)
    tournament.withdraw(arena, number, "ada v2", None, by)
    tournament.withdraw(arena, number, "ada", None, by)
    assert playing(arena, number) == ["bob v1", "cleo v1"]


def test_enter_unknown_name_suggests_similar_ones(arena: Arena, open_one: TournamentItem, person: Person) -> None:
    by, number = person("otto", "organiser"), open_one.id
    with pytest.raises(NotFoundError) as bot:
        tournament.enter(arena, number, "cloe", None, by)
    assert bot.value.hint == "did you mean cleo?"
    with pytest.raises(NotFoundError) as version:
        tournament.enter(arena, number, "cleo v3", None, by)
    assert version.value.hint == "did you mean cleo v1?"


def test_schedule_is_enabled_and_disabled(arena: Arena, field: Field, person: Person, ear: Ear) -> None:
    by = person("olga", "organiser")
    row = schedule.create(arena, {**SOON, "schedule": {"cron": "0 20 * * 5"}}, by)
    assert schedule.switch(arena, row.id or 0, False, by).next_fire is None
    assert schedule.switch(arena, row.id or 0, True, by).next_fire is not None
    assert ear.heard == ["CoordinatorWakeup"] * 3


def test_preview_estimates_duration_from_latest_games(arena: Arena, field: Field, person: Person) -> None:
    by = person("otto", "organiser")
    document = read({**SOON, "time_control": "10+0.5", "entries": {"bots": ["ada", "bob", "cleo"]}})
    extent = tournament.preview(arena, document, by).extent
    assert (extent.moves, extent.seconds(2), extent.usual(2)) == (40, 6 * 2 * (10 + 40 * 0.5) / 2, None)
    records = field.play(4)
    moves = fmean(len(record.moves) for record in records) / 2
    extent = tournament.preview(arena, document, by).extent
    assert (extent.moves, extent.game_s, extent.usual_s) == (moves, 2 * (10 + moves * 0.5), None)
    with arena.store.writing() as session:
        row = session.get_one(Tournament, field.tournament_id)
        row.settings = {**row.settings, "time_control": "10+0.5"}
    lines = arena.store.games.latest(GameQuery(limit=4)).items
    took = fmean(
        (line.finished_at - line.started_at).total_seconds() for line in lines if line.finished_at and line.started_at
    )
    assert tournament.preview(arena, document, by).extent.usual(1) == pytest.approx(6 * took)


def test_show_has_entries_and_counts_of_games(arena: Arena, field: Field) -> None:
    field.play(2)
    field.plan(3, first_sequence=3)
    found = tournament.show(arena, field.tournament_id)
    assert [entry.name for entry in found.entries] == [version.name for version in field.versions]
    assert found.games == {"finished": 2, "planned": 3}
    assert (found.name, found.settings) == (tournament.get(arena, field.tournament_id).name, found.settings)


def test_game_id_of_a_number_outside_the_plan_raises(arena: Arena, field: Field) -> None:
    _, second = field.plan(2)
    assert tournament.game_id(arena, field.tournament_id, 2) == second.id
    with pytest.raises(NotFoundError, match=f"no game in tournament {field.tournament_id} '3'"):
        tournament.game_id(arena, field.tournament_id, 3)


def test_plan_sorts_and_counts_the_games_that_match(arena: Arena, field: Field) -> None:
    field.play(3)
    field.plan(2, first_sequence=4)
    query = PlanQuery(state="finished", limit=2)
    found = tournament.plan(arena, field.tournament_id, query, sort="sequence", is_descending=True, offset=1)
    assert [line.sequence for line in found.games] == [2, 1]
    assert found.count == 3


def test_news_has_the_results_after_a_commit_number(arena: Arena, field: Field) -> None:
    number = field.tournament_id
    field.play(3)
    start = tournament.news(arena, number, None, 10)
    assert (len(start.results), start.commit_number) == (0, 3)
    later = tournament.news(arena, number, 1, 10)
    assert [line.commit_number for line in later.results] == [2, 3]
    assert later.commit_number == 3
    assert tournament.news(arena, number, 3, 10).commit_number == 3
    assert tournament.news(arena, number, 0, 1).commit_number == 1
