"""The coordinator as a task: the lease, its loss, the order to stop, checks of uploads."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from arena.coordinator import context
from arena.coordinator import coordinator as coordinating
from arena.coordinator.background import STOP_TIMEOUT_S
from arena.coordinator.coordinator import Coordinator
from arena.coordinator.leadership import LEASE
from arena.coordinator.maintenance import Maintenance, Task
from arena.errors import ConflictError, SchemaError
from arena.events.bus import Subscription
from arena.events.messages import CoordinatorChanged, Event, GameEnded, VersionChanged
from arena.store import Store
from arena.store.bots.bots import ConnectedBot
from arena.store.games.commit import Committed
from referee.game.record import GameRecord
from tests.arena.coordinator.stage import Dice, Stage, on_sqlite

TIMEOUT_S = 100
Events = Subscription[Event]


def acting(
    stage: Stage,
    dice: Dice,
    script: Callable[[Coordinator, Events, asyncio.Event], Awaitable[None]],
    **options: Any,
) -> None:
    """Run a coordinator as a task together with the script, then stop it."""

    async def main() -> None:
        stop = asyncio.Event()
        coordinator = stage.apart(dice, **options)
        async with stage.bus.subscribe(CoordinatorChanged, GameEnded, VersionChanged) as events:
            task = asyncio.create_task(coordinator.run(stop))
            try:
                await asyncio.wait_for(script(coordinator, events, stop), TIMEOUT_S)
            finally:
                stop.set()
                await asyncio.wait_for(task, TIMEOUT_S)
        assert coordinator.state == "stopped"

    asyncio.run(main())


async def heard(events: Events, kind: type[Event], **fields: Any) -> None:
    """Wait for an event that contains this text."""
    async for event in events:
        if isinstance(event, kind) and all(getattr(event, name) == value for name, value in fields.items()):
            return
    raise AssertionError(f"no {kind.__name__} {fields}")


def test_a_coordinator_acts_records_and_releases_the_lease(stage: Stage) -> None:
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        await heard(events, CoordinatorChanged, state="acting")
        lease = stage.store.leases.get(LEASE)
        assert lease is not None
        assert lease.owner == coordinator.leadership.name
        for _ in range(2):
            await heard(events, GameEnded, state="finished")

    acting(stage, Dice(), script)
    stage.check_exactly_once(number, 2)
    assert stage.store.leases.get(LEASE) is None


@on_sqlite
def test_stop_releases_the_lease_before_background_work_has_ended(stage: Stage) -> None:
    began = threading.Event()
    was_free: list[bool] = []

    def work(must_stop: Callable[[], bool]) -> int:
        began.set()
        deadline = time.monotonic() + STOP_TIMEOUT_S / 2
        while not must_stop() or (stage.store.leases.get(LEASE) and time.monotonic() < deadline):
            time.sleep(0.01)
        was_free.append(stage.store.leases.get(LEASE) is None)
        return 0

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        assert await asyncio.to_thread(began.wait, TIMEOUT_S)

    acting(stage, Dice(), script, maintenance=Maintenance(stage.store, [Task("dusting", 0, work)]))
    assert was_free == [True]


@on_sqlite
def test_other_work_begins_when_the_first_game_has_ended(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinating, "SETTLE_S", 3600)
    stage.create(games=2, entries={"bots": ["ada", "bob"]})
    dice, dusted, was_early = Dice(is_held=True), threading.Event(), list[bool]()

    def dust(must_stop: Callable[[], bool]) -> int:
        was_early.append(bool(dice.held))
        dusted.set()
        return 0

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        await heard(events, CoordinatorChanged, state="acting")
        coordinator.order(0)
        await dice.jobs()
        assert not coordinator.settled.is_set()
        dice.release()
        await asyncio.wait_for(coordinator.settled.wait(), TIMEOUT_S)
        assert await asyncio.to_thread(dusted.wait, TIMEOUT_S)

    acting(stage, dice, script, maintenance=Maintenance(stage.store, [Task("dusting", 0, dust)]))
    assert was_early == [False]


@pytest.mark.parametrize(("window_s", "released"), [(3600, 8), (0.05, 1)], ids=["half of the jobs", "the window"])
@on_sqlite
def test_results_wait_for_others_until_half_the_jobs_have_ended_or_for_a_window(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, window_s: float, released: int
) -> None:
    monkeypatch.setattr(coordinating, "TICK_INTERVAL_S", 3600)
    monkeypatch.setattr(context, "BATCH_WINDOW_S", window_s)
    dice = Dice(is_held=True)
    dice.size = 8
    commit_all, together = stage.store.results.commit_all, list[int]()

    def counted(records: Sequence[GameRecord], lease_owner: str = "") -> list[Committed | None]:
        together.append(len(records))
        return commit_all(records, lease_owner)

    monkeypatch.setattr(stage.store.results, "commit_all", counted)
    stage.create(games=20)

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        await heard(events, CoordinatorChanged, state="acting")
        await dice.jobs(16)
        for _ in range(released):
            assert not together
            dice.release(1)
        for _ in range(2 * released):
            await heard(events, GameEnded, state="finished")
        assert together == [2 * released]
        coordinator.abort()

    acting(stage, dice, script)


def lease_gauges(coordinator: Coordinator) -> tuple[float | None, float | None]:
    """Return the gauges of the metrics endpoint: whether this process acts, and whether any does."""
    value = coordinator.metrics.registry.get_sample_value
    return value("arena_referee_acting"), value("arena_referee_up")


@on_sqlite
def test_metrics_of_the_active_coordinator_report_it_as_up(stage: Stage) -> None:
    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        assert lease_gauges(coordinator) == (0, 0)
        await heard(events, CoordinatorChanged, state="acting")
        assert lease_gauges(coordinator) == (1, 1)
        stop.set()
        await heard(events, CoordinatorChanged, state="stopped")
        assert lease_gauges(coordinator) == (0, 0)

    acting(stage, Dice(), script)


@pytest.mark.parametrize(("seconds", "is_up"), [(3600, 1), (-1, 0)], ids=["alive", "run out"])
@on_sqlite
def test_metrics_of_a_standby_report_the_active_coordinator(stage: Stage, seconds: float, is_up: int) -> None:
    assert stage.store.leases.take(LEASE, "another", seconds)

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        await heard(events, CoordinatorChanged, state="standing by")
        assert lease_gauges(coordinator) == (0, is_up)

    acting(stage, Dice(), script)


def upgrade(stage: Stage) -> None:
    """Upgrade the schema like `arena db upgrade` of a newer program, as far as this program can tell."""
    with stage.store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        connection.execute(text("DELETE FROM leases"))


@pytest.mark.parametrize("is_acting", [True, False])
def test_a_schema_upgrade_ends_the_coordinator_before_it_writes(
    own_store: Store, tmp_path: Path, is_acting: bool
) -> None:
    stage = Stage(own_store, tmp_path)
    stage.settings = stage.settings.model_copy(update={"lease_ttl_seconds": 0.3})
    number = stage.create(games=2)
    dice = Dice(is_held=True)
    if not is_acting:
        assert own_store.leases.take(LEASE, "another", 3600)

    async def main() -> None:
        coordinator = stage.apart(dice)
        async with stage.bus.subscribe(CoordinatorChanged) as events:
            task = asyncio.create_task(coordinator.run(asyncio.Event()))
            await heard(events, CoordinatorChanged, state="acting" if is_acting else "standing by")
            if is_acting:
                await dice.jobs()
            upgrade(stage)
            with pytest.raises(SchemaError, match="newer than this program or belongs to another one"):
                await asyncio.wait_for(task, TIMEOUT_S)

    asyncio.run(main())
    assert stage.store.games.counts(number) == ({"planned": 4, "queued": 8} if is_acting else {})
    assert stage.store.leases.get(LEASE) is None


def test_a_lease_acquired_during_an_upgrade_is_released(own_store: Store, tmp_path: Path) -> None:
    stage = Stage(own_store, tmp_path)
    coordinator = stage.apart(Dice())
    take = coordinator.leadership.take

    def late() -> bool:
        upgrade(stage)
        return take()

    coordinator.leadership.take = late  # type: ignore[method-assign]
    with pytest.raises(SchemaError):
        coordinator._take()
    assert stage.store.leases.get(LEASE) is None


def test_a_coordinator_without_the_lease_stands_by_and_writes_nothing(stage: Stage) -> None:
    stage.settings = stage.settings.model_copy(update={"lease_ttl_seconds": 0.3})
    number = stage.create(games=2)
    dice = Dice(is_held=True)

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        await heard(events, CoordinatorChanged, state="acting")
        await dice.jobs()
        dice.begin()
        stage.store.leases.release(LEASE, coordinator.leadership.name)
        assert stage.store.leases.take(LEASE, "another", 3600)
        await heard(events, CoordinatorChanged, state="standing by")
        assert stage.store.games.counts(number)["queued"] == 8
        assert len(dice.called_off) == 4
        stop.set()

    acting(stage, dice, script)
    lease = stage.store.leases.get(LEASE)
    assert lease is not None
    assert lease.owner == "another"
    assert stage.store.games.counts(number)["queued"] == 8
    assert stage.store.voids.page().items == []


@on_sqlite
def test_games_that_exceed_the_grace_period_are_cancelled_and_requeued(stage: Stage) -> None:
    number = stage.create(games=2)
    dice = Dice(is_held=True)

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        await dice.jobs()
        dice.begin()
        stop.set()
        await heard(events, CoordinatorChanged, state="stopped")

    acting(stage, dice, script, grace_s=0.0)
    assert stage.store.games.counts(number) == {"planned": 12}
    assert stage.store.voids.page().items == []


@on_sqlite
def test_a_second_order_to_stop_cancels_running_games(stage: Stage) -> None:
    number = stage.create(games=2)
    dice = Dice(is_held=True)

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        await dice.jobs()
        dice.begin()
        stop.set()
        await heard(events, CoordinatorChanged, state="stopping")
        coordinator.abort()
        await heard(events, CoordinatorChanged, state="stopped")

    acting(stage, dice, script, grace_s=3600.0)
    assert stage.store.games.counts(number) == {"planned": 12}


@on_sqlite
def test_stop_waits_for_running_games(stage: Stage) -> None:
    number = stage.create(games=2)
    dice = Dice(is_held=True)

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        await dice.jobs()
        dice.held[0][0].set_running_or_notify_cancel()
        stop.set()
        await heard(events, CoordinatorChanged, state="stopping")
        dice.release(1)
        await heard(events, CoordinatorChanged, state="stopped")

    acting(stage, dice, script, grace_s=3600.0)
    assert stage.store.games.counts(number) == {"planned": 10, "finished": 2}


def test_connected_bots_are_published_to_the_database(stage: Stage) -> None:
    ada, bob = (stage.ids[name] for name in ("ada", "bob"))
    lobby: Any = SimpleNamespace(present={"ada v1": ConnectedBot(ada, 0, 4, 20.0, True)}, on_change=None)

    def connected() -> set[int]:
        return {version for version, line in stage.store.presences.of([ada, bob]).items() if line.is_connected}

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        while connected() != {ada}:
            await asyncio.sleep(0.01)
        lobby.present["bob v1"] = ConnectedBot(bob, 1, 4, None, False)
        lobby.on_change()
        while connected() != {ada, bob}:
            await asyncio.sleep(0.01)

    acting(stage, Dice(), script, lobby=lobby)
    del lobby.present["ada v1"]
    lobby.on_change()
    assert connected() == {ada, bob}, "who does not act says nothing"


@on_sqlite
def test_uploads_are_checked_one_by_one(stage: Stage) -> None:
    fresh = [stage.bot(name, state="uploaded") for name in ("new1", "new2")]

    def check(version_id: int) -> None:
        stage.store.checks.conclude(version_id, report={}, variants={"loa": []}, capabilities={})

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        for _ in fresh:  # in any order
            await heard(events, VersionChanged, state="active")

    acting(stage, Dice(), script, check=check)
    assert [stage.store.versions.get(version).state for version in fresh] == ["active", "active"]


@on_sqlite
def test_a_check_that_fails_by_our_fault_is_repeated(stage: Stage) -> None:
    version = stage.bot("new", state="uploaded")
    tries: list[int] = []

    def check(version_id: int) -> None:
        tries.append(version_id)
        if len(tries) == 1:
            raise OSError("disk full")
        if len(tries) == 2:
            raise ConflictError("another process was faster")
        stage.store.checks.conclude(version_id, report={}, variants={"loa": []}, capabilities={})

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        await heard(events, VersionChanged, version=version, state="uploaded")
        await heard(events, VersionChanged, version=version, state="checking")

    acting(stage, Dice(), script, check=check)
    assert len(tries) >= 2


@on_sqlite
def test_an_error_in_one_tournament_affects_no_other(stage: Stage) -> None:
    sick, broken, sound = (stage.create(name=name) for name in ("sick", "broken", "sound"))
    assert stage.store.tournaments.replace_settings(broken, stage.tournament(broken).settings, {"nonsense": True})
    dice = Dice(is_held=True)
    stage.coordinator(dice).turn()
    assert stage.store.tournaments.replace_settings(sick, stage.tournament(sick).settings, {"nonsense": True})
    stage.play(sound)
    stage.check_exactly_once(sound)
    states = {number: (stage.tournament(number).state, stage.tournament(number).problem) for number in (sick, broken)}
    problem = "name: is missing; write it"
    assert states == {sick: ("paused", problem), broken: ("cancelled", problem)}
