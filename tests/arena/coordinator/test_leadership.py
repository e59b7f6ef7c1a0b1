"""Who stands by: when he takes the lease, and when not."""

from __future__ import annotations

import pytest

from arena.coordinator.leadership import LEASE, Leadership
from arena.coordinator.outage_log import OutageLog
from arena.store import Store, StoreUnavailableError
from arena.store.operations.leases import OwnedLease
from tests.arena.coordinator.stage import Stage


class Watch:
    """Somebody who wants the lease, and the clock he watches it by; looks once a second."""

    def __init__(self, store: Store, seconds: float = 10) -> None:
        self.now = 1000.0
        self.owner = Leadership(store, seconds, OutageLog(lambda: 0), clock=lambda: self.now)

    def looks(self, count: int, every_s: float = 1.0) -> int:
        """How many looks until the lease was taken; 0 when it was not."""
        for number in range(1, count + 1):
            if self.owner.take():
                return number
            self.now += every_s
        return 0


def test_a_lease_that_nobody_renews_is_taken_after_its_length_and_no_earlier(stage: Stage) -> None:
    leases, watch = stage.store.leases, Watch(stage.store)
    assert leases.take(LEASE, "elsewhere", 10)
    assert not watch.looks(9)
    assert leases.renew(LEASE, "elsewhere", 10)
    assert watch.looks(30) == 11
    assert leases.get(LEASE).owner == watch.owner.name  # type: ignore[union-attr]


def test_time_in_which_the_database_did_not_answer_does_not_count(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
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
