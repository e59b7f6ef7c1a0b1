"""New games are indexed after their commits."""

from __future__ import annotations

import threading

import pytest

from arena.collections import following
from arena.coordinator.archivist import ArchiveIndexer
from arena.documents.archive import ArchiveQuery
from arena.store import Store
from arena.store.archive.search import ArchiveSearch
from tests.arena.field import Field


@pytest.fixture
def field(sqlite_store: Store) -> Field:
    return Field(sqlite_store)


def test_games_are_indexed_soon_after_their_commits(sqlite_store: Store, field: Field) -> None:
    follower, stop = ArchiveIndexer(sqlite_store, prepare=following.prepared), threading.Event()
    field.play(3)
    assert follower.work(stop) == 3
    field.play(2, first_sequence=4)
    assert follower.work(stop) == 2
    assert sqlite_store.archive.count(ArchiveSearch()) == 5
    stop.set()
    field.play(1, first_sequence=6)
    assert follower.work(stop) == 0
    assert sqlite_store.archive.count(ArchiveSearch()) == 5


def test_the_rules_run_in_a_helper_process(sqlite_store: Store, field: Field) -> None:
    follower, stop = ArchiveIndexer(sqlite_store), threading.Event()
    field.play(2)
    assert follower.work(stop) == 2
    assert follower.process.is_open
    assert sqlite_store.archive.count(ArchiveSearch(query=ArchiveQuery(family="loa", min_plies=2))) == 2
    assert follower.work(stop) == 0
    follower.process.close()
    assert not follower.process.is_open
