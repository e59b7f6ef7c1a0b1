"""The archive follows what is played, behind the commits."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from arena.collections import following
from arena.coordinator.follower import LOOK_S, Follower
from arena.store import LeaseLostError, Store
from arena.store.archive_search import Search
from tests.arena.field import Field


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def look(follower: Follower, clock: Clock) -> None:
    """Let the time of a look pass, and wait for its end."""
    clock.now += LOOK_S
    follower.begin()
    assert follower._thread is not None
    follower._thread.join(100)


@pytest.fixture
def field(sqlite_store: Store) -> Field:
    return Field(sqlite_store)


def test_games_are_in_the_archive_soon_after_their_commits(sqlite_store: Store, field: Field, tmp_path: Path) -> None:
    clock = Clock()
    follower = Follower(sqlite_store, nullcontext, tmp_path, clock=clock, prepare=following.prepared)
    field.play(3)
    follower.begin()
    assert follower._thread is None, "not at once: a start has other things to do"
    look(follower, clock)
    assert sqlite_store.archive.count(Search()) == 3
    field.play(2, first_sequence=4)
    clock.now += LOOK_S / 2
    follower.begin()
    assert sqlite_store.archive.count(Search()) == 3
    look(follower, clock)
    assert sqlite_store.archive.count(Search()) == 5
    follower.stop()
    field.play(1, first_sequence=6)
    clock.now += LOOK_S
    follower.begin()
    assert sqlite_store.archive.count(Search()) == 5


def test_who_has_lost_the_lease_writes_nothing(sqlite_store: Store, field: Field, tmp_path: Path) -> None:
    def lost() -> AbstractContextManager[None]:
        raise LeaseLostError("lost")

    clock = Clock()
    follower = Follower(sqlite_store, lost, tmp_path, clock=clock, prepare=following.prepared)
    field.play(1)
    look(follower, clock)
    assert sqlite_store.archive.count(Search()) == 0


def test_the_rules_are_asked_in_a_process(sqlite_store: Store, field: Field, tmp_path: Path) -> None:
    clock = Clock()
    follower = Follower(sqlite_store, nullcontext, tmp_path, clock=clock)
    field.play(2)
    look(follower, clock)
    assert follower._pool is not None
    assert sqlite_store.archive.count(Search(family="loa", shortest=2)) == 2
    look(follower, clock)
    assert follower._pool is None, "nothing new: the process has ended"
    follower.stop()
