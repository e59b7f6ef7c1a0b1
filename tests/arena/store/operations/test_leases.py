"""Leases: one owner at a time, whatever the clocks show; fencing of a former owner's writes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from arena.clock import now
from arena.errors import LeaseLostError, StoreUnavailableError
from arena.store import Store
from arena.store.operations import leases


def test_lease_has_one_owner(store: Store) -> None:
    assert store.leases.take("referee", "one", 1000)
    seen = store.leases.get("referee")
    assert seen is not None
    assert (seen.owner, seen.is_alive, 900 < seen.left_s <= 1000) == ("one", True, True)
    assert not store.leases.take("referee", "two", 10)
    assert store.leases.renew("referee", "one", 10)
    assert not store.leases.take("referee", "two", 10, seen)  # renewed since it was seen
    assert store.leases.take("referee", "two", 10, store.leases.get("referee"))
    assert not store.leases.renew("referee", "one", 10)
    assert not store.leases.take("referee", "one", 10)
    store.leases.release("referee", "one")  # not the owner
    assert store.leases.get("referee").owner == "two"  # type: ignore[union-attr]
    store.leases.release("referee", "two")
    assert store.leases.get("referee") is None
    assert not store.leases.renew("referee", "two", 10)  # another owner may have had it since


def test_concurrent_takes_have_one_winner(store: Store) -> None:
    with ThreadPoolExecutor(6) as pool:
        won = list(pool.map(lambda number: store.leases.take("referee", f"owner {number}", 60), range(12)))
    assert won.count(True) == 1
    seen = store.leases.get("referee")
    with ThreadPoolExecutor(6) as pool:
        won = list(pool.map(lambda number: store.leases.take("referee", f"other {number}", 60, seen), range(12)))
    assert won.count(True) == 1


@pytest.mark.parametrize("hours", [-5, 5])
def test_wrong_clock_does_not_take_a_lease(store: Store, hours: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.leases.take("referee", "one", 1000)
    monkeypatch.setattr(leases, "now", lambda: now() + timedelta(hours=hours))
    assert not store.leases.take("referee", "two", 10)
    assert store.leases.get("referee").owner == "one"  # type: ignore[union-attr]
    if store.engine.dialect.name == "postgresql":  # the machine's own clock is not used
        assert 900 < store.leases.get("referee").left_s <= 1000  # type: ignore[union-attr]


def test_fencing_rejects_writes_of_former_owner(store: Store) -> None:
    with (
        store.leases.fencing("referee", "one"),
        pytest.raises(LeaseLostError, match="is owned by no process, not by one"),
    ):
        store.users.add("ada")
    assert store.leases.take("referee", "one", 10)
    with store.leases.fencing("referee", "one"):
        store.users.add("ada")
        with ThreadPoolExecutor(1) as others:  # other threads are not fenced
            others.submit(store.users.add, "bob").result()
            seen = store.leases.get("referee")
            assert others.submit(store.leases.take, "referee", "two", 10, seen).result()
        with pytest.raises(LeaseLostError, match="is owned by two, not by one"):
            store.users.add("cleo")
    store.users.add("dan")
    assert [user.name for user in store.users.page().items] == ["ada", "bob", "dan"]


def test_take_waits_for_fenced_transaction(store: Store) -> None:
    assert store.leases.take("referee", "one", 10)
    seen = store.leases.get("referee")
    with ThreadPoolExecutor(1) as others:
        with store.leases.fencing("referee", "one"), store.writing():
            taking = others.submit(store.leases.take, "referee", "two", 10, seen)
            with pytest.raises(TimeoutError):
                taking.result(0.2)
        assert taking.result()


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)  # SQLite has one lock, which a stopped writer keeps
def test_stopped_owner_does_not_block_standby(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "_IDLE_S", (0.2, 0.2))
    assert store.leases.take("referee", "one", 10)
    seen = store.leases.get("referee")
    fencing = store.leases.fencing("referee", "one")
    with ThreadPoolExecutor(1) as others, pytest.raises(StoreUnavailableError), fencing, store.writing():
        assert others.submit(store.leases.take, "referee", "two", 10, seen).result(60)
    assert store.leases.get("referee").owner == "two"  # type: ignore[union-attr]
