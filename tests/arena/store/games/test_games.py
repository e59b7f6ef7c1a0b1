"""Plans, dispatch and return of games, lists and streams."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from arena.documents.game import GameQuery
from arena.documents.tournament import PlanQuery
from arena.errors import NotFoundError
from arena.store import Store
from arena.tournaments.standing import by_points
from arena.tournaments.stored_tournament import StoredTournament
from referee.game.record import read_record
from referee.tournament import crosstable
from referee.tournament.ranking import Scores
from tests.arena.field import Field, record_of
from tests.referee.tournament.rehearsal import table_of


def test_plan_is_idempotent(store: Store, field: Field) -> None:
    games = field.plan(10)
    assert field.plan(10) == games
    field.plan(12)
    assert store.tournaments.get(field.tournament_id).planned_games == 12
    assert [waiting.game for waiting in store.queue.waiting(field.tournament_id, 3)] == games[:3]
    with pytest.raises(NotFoundError, match="no tournament"):
        store.queue.plan(10**6, games, {})


def test_hand_out_dispatches_each_game_once(store: Store, field: Field) -> None:
    ids = [game.id for game in field.plan(20)]
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda worker: store.queue.hand_out(ids, f"worker {worker}"), range(4)))
    assert sorted(game for part in parts for game in part) == sorted(ids)
    assert store.games.counts(field.tournament_id) == {"queued": 20}
    store.queue.start(ids[0])
    assert store.queue.open() == {"queued": 19, "running": 1}
    assert store.queue.waiting(field.tournament_id, 5) == []
    assert store.queue.give_back(lease_owner="nobody") == 0
    assert store.queue.give_back(ids=ids[:3]) == 3
    assert store.queue.give_back() == 17
    assert [waiting.game.attempt for waiting in store.queue.waiting(field.tournament_id, 2)] == [2, 1]


def test_cancelled_games_leave_the_total(store: Store, field: Field) -> None:
    field.play(2)
    field.plan(3, first_sequence=3)
    assert store.queue.cancel(field.tournament_id) == 3
    assert store.queue.cancel(field.tournament_id) == 0
    assert store.games.counts(field.tournament_id) == {"finished": 2, "cancelled": 3}
    found = store.tournaments.get(field.tournament_id)
    assert (found.planned_games, found.finished_games) == (2, 2)


def test_undo_in_cancelled_tournament_leaves_the_total(store: Store, field: Field) -> None:
    one, _ = field.play(2)
    store.tournaments.move(field.tournament_id, "cancelled")
    assert store.results.undo({one.id: "wrong"}) == [one.id]
    found = store.tournaments.get(field.tournament_id)
    assert (found.planned_games, found.finished_games) == (1, 1)


def test_of_tournament_pages_in_planned_order(store: Store, field: Field) -> None:
    field.play(5)
    field.plan(4, first_sequence=6)
    sequences, after = [], None
    while True:
        page = store.games.of_tournament(field.tournament_id, PlanQuery(limit=4, after=after))
        sequences += [line.sequence for line in page.items]
        after = page.next
        if after is None:
            break
    assert sequences == list(range(1, 10))
    planned = store.games.of_tournament(field.tournament_id, PlanQuery(state="planned", limit=2))
    assert [line.sequence for line in planned.items] == [6, 7]


def test_of_tournament_is_filtered_by_termination_and_version(store: Store, field: Field) -> None:
    records = field.play(6)
    number = field.tournament_id

    def found(**filters: str) -> list[str]:
        return [line.id for line in store.games.of_tournament(number, PlanQuery(**filters)).items]  # type: ignore[arg-type]

    endings = {record.termination.value for record in records}
    for ending in endings:
        assert found(termination=ending) == [record.id for record in records if record.termination.value == ending]
    assert found(termination="time") == [record.id for record in records if record.termination.value == "time"]
    name = field.versions[0].name
    assert found(version=name) == [record.id for record in records if name in (record.first, record.second)]
    assert found(version="nobody v1") == []
    assert store.games.id_of(number, 6) == records[5].id
    assert store.games.id_of(number, 7) is None


def test_latest_filtered_by_time_is_ordered_by_end(store: Store, field: Field) -> None:
    ends = ["2026-01-03", "2026-01-01", "2026-01-02", "2026-01-02", "2026-01-04"]
    records = [
        replace(record_of(game, winner="draw" if number == 3 else "first"), finished=f"{end}T12:00:00+00:00")
        for number, (game, end) in enumerate(zip(field.plan(5), ends, strict=True))
    ]
    for record in records:
        store.results.commit(record)

    def found(**words: Any) -> list[int]:
        numbers, after = [], None
        while True:
            page = store.games.latest(GameQuery(limit=2, after=after, **words))
            numbers += [line.sequence for line in page.items]
            if (after := page.next) is None:
                return numbers

    start = datetime(2026, 1, 2, tzinfo=UTC)
    assert found(since=start) == [5, 1, 4, 3]
    assert found(since=start, until=start + timedelta(days=1)) == [4, 3]
    assert found(until=start) == [2]
    assert found(since=start, winner="draw", variant="standard") == [4]
    assert found(winner="first") == [5, 3, 2, 1]
    assert found(variant="scrambled") == []


def test_latest_filters_games(store: Store, field: Field) -> None:
    records = field.play(30)
    page = store.games.latest(GameQuery(limit=20))
    rest = store.games.latest(GameQuery(limit=20, after=page.next))
    assert [line.id for line in [*page.items, *rest.items]] == [record.id for record in reversed(records)]
    assert store.games.latest(GameQuery(family="loa")) == store.games.latest(GameQuery(pool="loa"))
    assert store.games.latest(GameQuery(family="tablut")).items == []

    ada, bob = (field.versions[number].id or 0 for number in (0, 1))
    mine = [record.id for record in reversed(records) if "ada v1" in (record.first, record.second)]
    ids, after = [], None
    while True:
        part = store.games.latest(GameQuery(limit=4, after=after), versions=[ada])
        ids += [line.id for line in part.items]
        after = part.next
        if after is None:
            break
    assert ids == mine
    both = [record.id for record in reversed(records) if {record.first, record.second} == {"ada v1", "bob v1"}]
    assert [line.id for line in store.games.latest(versions=[ada], against=[bob]).items] == both
    assert store.games.latest(versions=[]).items == []
    forfeits = [record.id for record in reversed(records) if record.kind.value == "forfeit"]
    assert [line.id for line in store.games.latest(GameQuery(termination_class="forfeit")).items] == forfeits


def test_results_give_the_same_standings_as_records(store: Store, field: Field) -> None:
    records = field.play(24)
    names = [version.name for version in field.versions]
    results = store.results.in_planned_order(field.tournament_id)
    scores = Scores()
    scores.extend(store.results.after_commit(field.tournament_id, 0))
    stored, plain = (
        by_points(StoredTournament.get(store, field.tournament_id), scores).lines,
        table_of(records, names).lines,
    )
    versions = [field.versions[line.version_id].id for line in plain]
    assert [replace(line, version_id=id or 0) for line, id in zip(plain, versions, strict=True)] == list(stored)
    assert [row.cells for row in crosstable.rows(results, stored)] == [
        row.cells for row in crosstable.rows(records, plain)
    ]
    later = store.results.after_commit(field.tournament_id, 20)
    assert [result.commit_number for result in later] == [21, 22, 23, 24]
    pairing = results[0].first_id, results[0].second_id
    mine = [result for result in results if (result.first_id, result.second_id) == pairing]
    assert sorted(store.results.of_pairings(field.tournament_id, [pairing]), key=lambda result: result.sequence) == mine
    assert store.results.of_pairings(10**6, [pairing]) == []


def test_records_are_streamed(store: Store, field: Field) -> None:
    records = field.play(9)
    stream = [(number, read_record(line)) for number, line in store.results.records()]
    assert stream == list(enumerate(records, 1))
    behind = store.results.records(GameQuery(tournament=field.tournament_id), after=7)
    assert [number for number, _ in behind] == [8, 9]
    with pytest.raises(NotFoundError, match="record of game"):
        store.games.record("nothing")
