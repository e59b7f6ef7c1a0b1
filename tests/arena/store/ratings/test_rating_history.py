"""Past leaderboards: each equals the leaderboard of its time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arena.store import Store
from tests.arena.field import Field, record_of


def test_leaderboard_at_every_commit_equals_the_one_then(sqlite_store: Store) -> None:
    field = Field(sqlite_store)
    then = []
    for game in field.plan(40):
        done = sqlite_store.results.commit(record_of(game))
        assert done is not None
        then.append((done.number, sqlite_store.ratings.leaderboard("loa").items))
    for number, lines in then:
        past = sqlite_store.rating_history.leaderboard("loa", number)
        assert [line.version_id for line in past] == [line.version_id for line in lines]
        for was, present in zip(past, lines, strict=True):
            for name in was.__dataclass_fields__:
                assert getattr(was, name) == pytest.approx(getattr(present, name)), (number, name)
    assert sqlite_store.rating_history.leaderboard("loa", 0) == []


def test_commit_at_returns_last_ended_commit(sqlite_store: Store) -> None:
    field = Field(sqlite_store)
    field.play(10)
    last = sqlite_store.results.last_commit()
    assert sqlite_store.rating_history.commit_at("loa", datetime(2999, 1, 1, tzinfo=UTC)) == last
    assert sqlite_store.rating_history.commit_at("loa", datetime(2000, 1, 1, tzinfo=UTC)) == 0
    assert sqlite_store.rating_history.commit_at("nothing", datetime(2999, 1, 1, tzinfo=UTC)) == 0


def test_leaderboard_hides_retired_versions_by_default(sqlite_store: Store) -> None:
    field = Field(sqlite_store)
    field.play(20)
    last = sqlite_store.results.last_commit()
    everybody = [line.version_id for line in sqlite_store.rating_history.leaderboard("loa", last)]
    sqlite_store.bots.retire(next(version.bot_id for version in field.versions if version.id == everybody[0]))
    assert [line.version_id for line in sqlite_store.rating_history.leaderboard("loa", last)] == everybody[1:]
    again = sqlite_store.rating_history.leaderboard("loa", last, with_retired=True)
    assert [line.version_id for line in again] == everybody
