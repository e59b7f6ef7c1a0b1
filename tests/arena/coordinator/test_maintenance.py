"""Daily tasks: once a day by the active coordinator, retried after failures, never blocking games."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.collections.dumps import Dumps
from arena.coordinator import maintenance as module
from arena.coordinator.maintenance import Maintenance, Task
from arena.store import Store
from arena.store.operations.daily_tasks import REFUSED_LOGINS_RETENTION
from arena.store.operations.idempotent_responses import RESPONSES_RETENTION
from arena.submission.bundle_store import BundleStore
from tests.arena.coordinator.stage import NOW, Dice, Stage, on_sqlite


def never() -> bool:
    """Return False: do not stop."""
    return False


def counting(store: Store, hour: int = 3) -> tuple[Maintenance, list[str]]:
    """Return a task that counts its runs."""
    done: list[str] = []

    def work(_: Callable[[], bool]) -> int:
        done.append("x")
        return 1

    return Maintenance(store, [Task("counted", hour, work)]), done


@on_sqlite
def test_a_task_runs_once_a_day_from_its_hour_on(store: Store) -> None:
    maintenance, done = counting(store)
    other, more = counting(store)
    for at, count in (
        (datetime(2026, 5, 1, 2, 59, tzinfo=UTC), 0),
        (datetime(2026, 5, 1, 3, 0, tzinfo=UTC), 1),
        (datetime(2026, 5, 1, 12, 0, tzinfo=UTC), 1),
        (datetime(2026, 5, 2, 1, 0, tzinfo=UTC), 1),
        (datetime(2026, 5, 2, 23, 0, tzinfo=UTC), 2),
        (datetime(2026, 5, 9, 4, 0, tzinfo=UTC), 3),
    ):
        for server in (maintenance, other):
            server.run_due(at, never)
        assert len(done) == count, at
    assert more == [], "what one process has done the other one leaves alone"
    assert store.daily_tasks.last_done("counted") == datetime(2026, 5, 9, tzinfo=UTC).toordinal()


def test_a_failed_task_is_retried_later_and_blocks_no_other(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[int] = []

    def fail(_: Callable[[], bool]) -> int:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError(28, "No space left on device")
        return 0

    done: list[str] = []
    maintenance = Maintenance(
        sqlite_store,
        [Task("first", 0, fail), Task("second", 0, lambda _: len(attempts))],
        lambda name, at: done.append(name),
    )
    clock = {"now": 100.0}
    monkeypatch.setattr(module.time, "monotonic", lambda: clock["now"])
    for seconds, expected in ((0, ["second"]), (10, ["second"]), (module.RETRY_INTERVAL_S, ["second", "first"])):
        clock["now"] += seconds
        maintenance.run_due(NOW, never)
        assert done == expected


def test_stop_interrupts_a_long_task(sqlite_store: Store) -> None:
    stop, other = threading.Event(), list[str]()

    def endless(must_stop: Callable[[], bool]) -> int:
        stop.set()
        while not must_stop():
            pass
        raise module.Interrupted

    def work(_: Callable[[], bool]) -> int:
        other.append("x")
        return 1

    maintenance = Maintenance(sqlite_store, [Task("endless", 0, endless), Task("other", 0, work)])
    maintenance.run_due(NOW, stop.is_set)
    assert sqlite_store.daily_tasks.last_done("endless") == 0
    maintenance.run_due(NOW, stop.is_set)  # after the stop: no task starts
    assert other == []


@on_sqlite
def test_a_coordinator_dumps_sweeps_and_expires(stage: Stage, tmp_path: Path) -> None:
    store = stage.store
    bundles = BundleStore(str(tmp_path / "bundles"), tmp_path / "unpacked")
    settings = stage.settings.model_copy(update={"data": tmp_path})
    store.users.add_login(stage.user_id, "0" * 64, "x", NOW - timedelta(days=400))
    maintenance = Maintenance.of(settings, store, lambda: bundles)
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})
    dice = Dice()
    coordinator = stage.coordinator(dice, maintenance=maintenance)
    maintenance.run_due(stage.now, never)
    while stage.tournament(number).state != "finished":
        coordinator.turn()
    stage.now += timedelta(days=1)
    maintenance.run_due(stage.now, never)
    assert Dumps.of(settings).index().through == 2
    for name in ("dumps", "bundles", "forget"):
        assert store.daily_tasks.last_done(name) == stage.now.toordinal()
    assert store.users.by_login("0" * 64) is None
    samples = {
        (sample.name, sample.labels.get("task")): sample.value
        for family in coordinator.metrics.registry.collect()
        for sample in family.samples
    }
    assert samples["arena_maintenance_done_timestamp_seconds", "dumps"] == stage.now.timestamp()


def test_expired_rows_are_deleted(store: Store) -> None:
    user = store.users.add("zoe").id or 0
    today = datetime.now(UTC)
    store.users.add_login(user, "1" * 64, "x", today + timedelta(hours=1))
    store.users.add_login(user, "2" * 64, "x", today + timedelta(days=400))
    store.idempotent_responses.begin(user, "k", "POST /x", "0" * 64)
    store.audit.note("login.refused", "user:eve")
    store.audit.note("bot.retire", "bot:zeta", user)
    for after, rows in (
        (timedelta(), 0),
        (timedelta(hours=2), 1),
        (RESPONSES_RETENTION + timedelta(minutes=5), 1),
        (REFUSED_LOGINS_RETENTION + timedelta(minutes=5), 1),
        (timedelta(days=399), 0),
    ):
        assert store.daily_tasks.forget(today + after) == rows, after
    assert [line.action for line in store.audit.page().items] == ["bot.retire"]
