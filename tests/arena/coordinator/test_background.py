"""Background work: runs at the start, periodically and when woken; ends in time; failures end one attempt."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from structlog.testing import capture_logs

from arena.cluster.spool import Backlog
from arena.collections import following
from arena.coordinator import background as module
from arena.coordinator.archivist import ArchiveIndexer
from arena.coordinator.background import Background, Conditions, OutageLog, stop
from arena.coordinator.leadership import LEASE
from arena.errors import LeaseLostError, StoreUnavailableError
from arena.store import Store
from arena.store.archive.search import ArchiveSearch
from tests.arena.field import Field

WAIT_S = 60.0


class Told:
    """Conditions that record their calls, and work whose end the test decides."""

    def __init__(self) -> None:
        self.failures: list[str] = []
        self.fenced = 0
        self.closed = 0
        self.ends: list[Exception | bool] = []
        """Outcomes of the next attempts."""
        self.attempts = threading.Semaphore(0)
        self.conditions = Conditions(self._fenced, OutageLog(lambda: Backlog(3)), self.failures.append)

    @contextmanager
    def _fenced(self) -> Iterator[None]:
        self.fenced += 1
        yield

    def work(self, stop: threading.Event) -> bool:
        try:
            end = self.ends.pop(0) if self.ends else True
            if isinstance(end, Exception):
                raise end
            return end
        finally:
            self.attempts.release()

    def close(self) -> None:
        self.closed += 1

    def background(
        self, interval_s: float | None = 3600.0, work: Callable[[threading.Event], object] | None = None
    ) -> Background:
        return Background("dusting", interval_s, work or self.work, self.conditions, close=self.close)

    def attempted(self, times: int = 1) -> None:
        """Wait for this number of attempts."""
        for _ in range(times):
            assert self.attempts.acquire(timeout=WAIT_S)


def test_work_runs_at_once_periodically_and_when_woken() -> None:
    told = Told()
    often, seldom = told.background(0.001), told.background()
    often.begin()
    told.attempted(3)
    stop([often])
    while told.attempts.acquire(blocking=False):
        pass
    seldom.begin()
    told.attempted()
    for _ in range(2):
        seldom.wake()
        told.attempted()
    stop([seldom])
    seldom.wake()
    assert not told.attempts.acquire(blocking=False)


def test_work_without_an_interval_runs_once_even_if_it_fails() -> None:
    told = Told()
    told.ends = [OSError("no room")]
    once = told.background(None)
    once.begin()
    once.join(WAIT_S)
    told.attempted()
    assert not told.attempts.acquire(blocking=False)
    assert told.failures == ["dusting"]
    assert told.closed == 1


def test_close_is_called_after_idle_attempts_and_at_the_end() -> None:
    told = Told()
    told.ends = [True, False, True]
    once = told.background(3600)
    once.begin()
    told.attempted()
    assert told.closed == 0
    for _ in range(2):
        once.wake()
        told.attempted()
    assert told.closed == 1
    stop([once])
    assert told.closed == 2


@pytest.mark.parametrize(
    ("error", "failures", "events"),
    [
        (OSError("no room"), ["dusting"], ["background work failed"]),
        (LeaseLostError("another's"), [], []),
        (StoreUnavailableError("away"), [], ["database unavailable", "database available"]),
    ],
)
def test_an_exception_ends_one_attempt_and_is_reported_in_one_place(
    error: Exception, failures: list[str], events: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_INTERVAL_S", 0.001)
    with capture_logs() as logs:
        told = Told()
        told.ends = [error]
        again = told.background(0.001)
        again.begin()
        told.attempted(3)
        stop([again])
    assert told.failures == failures
    assert [line["event"] for line in logs] == events
    assert told.fenced >= 3


def test_stop_interrupts_running_work() -> None:
    told, begun, freed = Told(), threading.Event(), threading.Event()

    def long(stop: threading.Event) -> bool:
        begun.set()
        assert freed.wait(WAIT_S)
        return stop.is_set()

    work = Background("long", 1.0, long, told.conditions, interrupt=freed.set, close=told.close)
    work.begin()
    assert begun.wait(WAIT_S)
    stop([work], WAIT_S)
    assert (freed.is_set(), told.closed) == (True, 1)


def test_work_that_overruns_the_stop_timeout_never_runs_twice_at_once() -> None:
    told, at_work, freed = Told(), threading.Semaphore(0), threading.Event()
    together: list[int] = []
    alone = threading.Lock()

    def long(_: threading.Event) -> None:
        assert alone.acquire(blocking=False)
        at_work.release()
        assert freed.wait(WAIT_S)
        together.append(1)
        alone.release()

    work = told.background(work=long)
    work.begin()
    assert at_work.acquire(timeout=WAIT_S)
    stop([work], 0.0)
    work.begin()  # this process has the lease again
    assert not at_work.acquire(blocking=False)
    freed.set()
    assert at_work.acquire(timeout=WAIT_S)
    stop([work], WAIT_S)
    assert together == [1, 1]


@pytest.mark.parametrize(("owner", "games"), [("me", 2), ("another", 0)])
def test_work_without_the_lease_writes_nothing(sqlite_store: Store, owner: str, games: int) -> None:
    Field(sqlite_store).play(2)
    assert sqlite_store.leases.take(LEASE, owner, 3600)
    follower = ArchiveIndexer(sqlite_store, prepare=following.prepared)
    failures: list[str] = []
    fenced = Conditions(lambda: sqlite_store.leases.fencing(LEASE, "me"), OutageLog(Backlog), failures.append)
    once = Background("archive", None, follower.work, fenced)
    once.begin()
    once.join(WAIT_S)
    assert (sqlite_store.archive.count(ArchiveSearch()), failures) == (games, [])
