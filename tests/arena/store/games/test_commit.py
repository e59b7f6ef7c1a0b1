"""The transaction of a result: exactly once, ratings in commit order, reproducible to the last bit."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import Connection, event, text, update
from sqlmodel import col

from arena.documents.query import PageQuery
from arena.errors import ConflictError, NotFoundError
from arena.store import Store
from arena.store.base.tables.ratings import RatingChange, VersionRating
from referee.game.spec import PlannedGame
from referee.ratings import trueskill
from referee.rules import load
from referee.rules.core import Termination
from tests.arena.field import Field, record_of, void_of


def test_commit_stores_result_record_and_ratings(store: Store, field: Field) -> None:
    game = field.plan(1)[0]
    record = record_of(game, winner="first")
    done = store.results.commit(record, "worker 1")
    assert done is not None
    assert (done.number, done.pool, len(done.changes)) == (1, "loa", 2)
    line = store.games.get(game.id)
    assert (line.state, line.commit_number, line.winner, line.plies, line.lease_owner) == (
        "finished",
        1,
        "first",
        2,
        "worker 1",
    )
    assert store.games.record(game.id) == record
    assert store.games.spec(game.id) == game.spec
    tournament = store.tournaments.get(field.tournament_id)
    assert (tournament.planned_games, tournament.finished_games) == (1, 1)
    best, worst = store.ratings.leaderboard("loa").items
    assert (best.name, best.wins, worst.losses) == (game.spec.first.name, 1, 1)
    changes = store.ratings.of_game(game.id)
    assert {change.mu for change in changes.values()} == {best.mu, worst.mu}
    assert store.ratings.check() == []


def test_commit_second_result_changes_nothing(store: Store, field: Field) -> None:
    game = field.plan(1)[0]
    assert store.results.commit(record_of(game, winner="first")) is not None
    before = store.ratings.leaderboard("loa").items
    assert store.results.commit(record_of(game, winner="second")) is None
    assert store.games.record(game.id).winner == "first"
    assert store.ratings.leaderboard("loa").items == before
    assert store.results.commit(record_of(field.plan(1, first_sequence=2)[0])) is not None
    assert store.results.last_commit() == 2  # the refused one took no number


def test_concurrent_commits_are_all_stored(store: Store, field: Field) -> None:
    games = field.plan(30)
    jobs = [record_of(game) for game in games for _ in range(3)]
    random.Random(1).shuffle(jobs)
    with ThreadPoolExecutor(8) as pool:
        done = [result for result in pool.map(store.results.commit, jobs) if result is not None]
    assert sorted(result.number for result in done) == list(range(1, 31))
    assert {result.game_id for result in done} == {game.id for game in games}
    assert store.tournaments.get(field.tournament_id).finished_games == 30
    assert store.ratings.check() == []


def _content(store: Store) -> list[object]:
    """All that results leave in the database."""
    columns = (
        "id, state, commit_number, winner, termination, termination_class, plies, lease_owner, worker, "
        "started_at, finished_at"
    )
    queries = (
        f"SELECT {columns} FROM games ORDER BY id",
        "SELECT * FROM rating_changes ORDER BY commit_number, version_id",
        "SELECT * FROM ratings ORDER BY pool, version_id",
        "SELECT game_id, data FROM records ORDER BY game_id",
        "SELECT id, planned_games, finished_games FROM tournaments",
        "SELECT value FROM counters WHERE name = 'commit'",
    )
    with store.reading() as session:
        return [list(map(tuple, session.execute(text(query)))) for query in queries]


def test_commit_all_equals_single_commits(store: Store, field: Field) -> None:
    games = field.plan(12)
    winners = ("first", "second", "draw")
    records = [record_of(game, winner=winners[number % 3]) for number, game in enumerate(games)]
    records[3] = record_of(games[3], winner="second", termination=Termination.TIME)
    for record in records:
        store.results.commit(record, "one")
    alone = _content(store)
    store.results.undo({record.id: "once more" for record in records})
    with store.writing() as session:
        session.execute(text("UPDATE counters SET value = 0 WHERE name = 'commit'"))
    committed = store.results.commit_all(records[:5], "one") + store.results.commit_all(records[5:], "one")
    assert [done.number for done in committed if done] == list(range(1, 13))
    assert _content(store) == alone
    assert store.ratings.check() == []


def test_commit_all_keeps_first_result_of_each_game(store: Store, field: Field) -> None:
    over, first, second = field.plan(3)
    store.results.commit(record_of(over, winner="first"))
    records = [
        record_of(game, winner=winner) for game, winner in ((first, "first"), (over, "second"), (first, "second"))
    ]
    committed = store.results.commit_all([*records, record_of(second, winner="draw")])
    assert [done and (done.game_id, done.number) for done in committed] == [(first.id, 2), None, None, (second.id, 3)]
    assert [store.games.record(game.id).winner for game in (over, first, second)] == ["first", "first", "draw"]
    assert store.results.last_commit() == 3
    assert store.tournaments.get(field.tournament_id).finished_games == 3
    assert store.results.commit(record_of(field.plan(1, first_sequence=4)[0])) is not None
    assert store.results.last_commit() == 4  # those that were over took no number
    assert store.ratings.check() == []


def test_commit_of_a_result_waits_for_the_disk(sqlite_store: Store) -> None:
    (game,) = Field(sqlite_store).plan(1)
    seen: list[int] = []

    def note(connection: Connection) -> None:
        seen.append(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())

    event.listen(sqlite_store.engine, "commit", note)
    sqlite_store.queue.start(game.id)
    sqlite_store.results.commit(record_of(game))
    sqlite_store.queue.give_back()
    assert seen == [1, 2, 1]  # NORMAL, FULL (sqlite.org/pragma.html#pragma_synchronous)


def test_commit_all_is_atomic(store: Store, field: Field) -> None:
    games = field.plan(3)
    records = [record_of(game) for game in games]
    for wrong in (replace(records[1], id="0123456789abcdef"), replace(records[1], second="somebody else")):
        with pytest.raises((NotFoundError, ConflictError)):
            store.results.commit_all([records[0], wrong, records[2]])
    assert store.games.counts(field.tournament_id) == {"planned": 3}
    assert store.results.last_commit() == 0
    assert store.ratings.leaderboard("loa").items == []


def test_committed_ratings_equal_the_fold(store: Store, field: Field) -> None:
    records = field.play(60)
    table = trueskill.fold(records, load("loa").draw_probability)
    lines = store.ratings.leaderboard("loa").items
    assert {line.name: (line.mu, line.sigma, line.games) for line in lines} == {
        name: (rating.mu, rating.sigma, rating.games) for name, rating in table.items()
    }
    forfeits = sum(record.termination is Termination.TIME for record in records)
    assert sum(line.forfeits for line in lines) == forfeits > 0


def test_rebuild_reproduces_ratings(store: Store, field: Field) -> None:
    field.play(40)
    with store.reading() as session:
        before = (
            sorted(session.execute(text("SELECT * FROM rating_changes")).all()),
            sorted(session.execute(text("SELECT * FROM ratings")).all()),
        )
    assert store.ratings.rebuild() == 40
    with store.reading() as session:
        after = (
            sorted(session.execute(text("SELECT * FROM rating_changes")).all()),
            sorted(session.execute(text("SELECT * FROM ratings")).all()),
        )
    assert before == after
    assert store.ratings.check() == []


def test_check_reports_every_kind_of_difference(store: Store, field: Field) -> None:
    records = field.play(10)
    with store.writing() as session:
        session.execute(
            update(VersionRating).where(col(VersionRating.version_id) == field.versions[0].id).values(mu=25.000001)
        )
    assert len(store.ratings.check()) == 1
    store.ratings.rebuild()
    with store.writing() as session:
        game = records[4].id
        session.execute(text("DELETE FROM rating_changes WHERE game_id = :game"), {"game": game})
        session.execute(update(RatingChange).where(col(RatingChange.game_id) == records[7].id).values(sigma=1.0))
    assert len(store.ratings.check()) == 4
    store.ratings.rebuild()
    assert store.ratings.check() == []


def test_unrated_and_self_games_change_no_rating(store: Store, field: Field) -> None:
    friendly = field.add_tournament(is_rated=False).id
    assert friendly is not None
    field.play(3, friendly)
    game = field.games(1, seed=9)[0]
    alone = PlannedGame.of(replace(game.spec, second=game.spec.first))
    store.queue.plan(field.tournament_id, [alone], {alone.spec.first.name: field.versions[1].id or 0})
    done = store.results.commit(record_of(alone))
    assert done is not None
    assert done.changes == ()
    assert store.ratings.leaderboard("loa").items == []
    assert store.ratings.check() == []


def test_new_version_starts_from_its_predecessor(store: Store, field: Field) -> None:
    field.play(30)
    older = {line.version_id: line for line in store.ratings.leaderboard("loa").items}
    before = older[field.versions[0].id or 0]
    newer = field.version("ada")
    field.versions[0] = newer
    assert newer.id is not None
    record = next(record for record in field.play(8, first_sequence=31) if "ada v2" in (record.first, record.second))
    change = store.ratings.of_game(record.id)[newer.id]
    assert (change.mu_before, change.sigma_before) == (before.mu, max(trueskill.SUCCESSOR_SIGMA, before.sigma))
    assert store.ratings.check() == []


def test_void_game_is_stored_and_replayed(store: Store, field: Field) -> None:
    game, other = field.plan(2)
    assert store.queue.hand_out([game.id], "worker 1") == [game.id]
    assert store.voids.add(void_of(game), 1, "worker 1")
    line = store.games.get(game.id)
    assert (line.state, line.attempt, line.lease_owner) == ("planned", 1, "")
    store.queue.hand_out([game.id], "worker 2")
    assert store.voids.add(void_of(game), 2, "worker 2", give_up=True)
    line = store.games.get(game.id)
    assert (line.state, line.termination_class, line.termination, line.commit_number) == (
        "void",
        "void",
        "worker-lost",
        None,
    )
    assert store.tournaments.get(field.tournament_id).finished_games == 1
    assert [void.attempt for void in store.voids.of(game.id)] == [1, 2]
    assert [line.game_id for line in store.voids.page(PageQuery(limit=1)).items] == [game.id]
    assert store.results.commit(record_of(game)) is None  # too late
    assert not store.voids.add(void_of(game), 3)
    with pytest.raises(ValueError, match="void"):
        store.results.commit(void_of(other))
    assert store.games.record(game.id).termination == Termination.WORKER_LOST


def test_commit_unknown_or_wrong_record_raises(store: Store, field: Field) -> None:
    game = field.plan(1)[0]
    record = record_of(game)
    with pytest.raises(NotFoundError, match="no game"):
        store.results.commit(replace(record, id="0123456789abcdef"))
    with pytest.raises(ConflictError, match="the record says"):
        store.results.commit(replace(record, first="somebody else"))
    store.queue.cancel(field.tournament_id)
    assert store.results.commit(record) is None
    assert store.results.last_commit() == 0
