"""Leases: one owner at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from arena.store import Store
from arena.store.models import now


def test_one_owns_the_lease(store: Store) -> None:
    at = now()
    assert store.leases.take("referee", "one", 10, at)
    assert not store.leases.take("referee", "two", 10, at + timedelta(seconds=9))
    assert store.leases.take("referee", "one", 10, at + timedelta(seconds=9))  # renewed
    assert not store.leases.take("referee", "two", 10, at + timedelta(seconds=18))
    assert store.leases.take("referee", "two", 10, at + timedelta(seconds=19))  # expired
    assert not store.leases.take("referee", "one", 10, at + timedelta(seconds=20))
    store.leases.release("referee", "one")  # not his
    lease = store.leases.get("referee")
    assert lease is not None
    assert lease.owner == "two"
    store.leases.release("referee", "two")
    assert store.leases.get("referee") is None


def test_a_race_has_one_winner(store: Store) -> None:
    with ThreadPoolExecutor(6) as pool:
        won = list(pool.map(lambda number: store.leases.take("referee", f"owner {number}", 60), range(12)))
    assert won.count(True) == 1
