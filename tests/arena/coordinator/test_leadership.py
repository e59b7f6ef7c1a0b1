"""When a standby acquires the lease, and when not."""

from __future__ import annotations

import pytest

from arena.cluster.spool import Backlog
from arena.coordinator.background import OutageLog
from arena.coordinator.leadership import LEASE, Leadership
from arena.errors import StoreUnavailableError
from arena.store import Store
from arena.store.operations.leases import OwnedLease
from tests.arena.coordinator.stage import Stage


class Watch:
    """A candidate for the lease with a manual clock; it checks once a second."""

    def __init__(self, store: Store, seconds: float = 10) -> None:
        self.now = 1000.0
        self.owner = Leadership(store, seconds, OutageLog(Backlog), clock=lambda: self.now)

    def looks(self, count: int, every_s: float = 1.0) -> int:
        """Return the number of checks until the lease was acquired; 0 if it was not."""
        for number in range(1, count + 1):
            if self.owner.take():
                return number
            self.now += every_s
        return 0


def test_an_expired_lease_is_acquired_after_its_length_and_no_earlier(stage: Stage) -> None:
    leases, watch = stage.store.leases, Watch(stage.store)
    assert leases.take(LEASE, "elsewhere", 10)
    assert not watch.looks(9)
    assert leases.renew(LEASE, "elsewhere", 10)
    assert watch.looks(30) == 11
    assert leases.get(LEASE).owner == watch.owner.name  # type: ignore[union-attr]


def test_outages_of_the_database_do_not_count_towards_expiry(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    leases, watch = stage.store.leases, Watch(stage.store)
    assert leases.take(LEASE, "elsewhere", 10)
    assert not watch.looks(9)
    with monkeypatch.context() as patch:
        patch.setattr(leases, "get", _away)
        for _ in range(60):
            with pytest.raises(StoreUnavailableError):
                watch.owner.take()
            watch.now += 1
    assert not watch.looks(9), "its owner could not renew it either"
    get = leases.get

    def slow(name: str) -> OwnedLease | None:
        watch.now += 60
        return get(name)

    with monkeypatch.context() as patch:
        patch.setattr(leases, "get", slow)
        assert not watch.looks(1)
    assert watch.looks(30) == 10  # the slow look was the first one


def _away(name: str) -> OwnedLease | None:
    raise StoreUnavailableError("away")
