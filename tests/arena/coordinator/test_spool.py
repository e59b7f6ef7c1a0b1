"""Results that the database cannot take: kept through outages and crashes, recorded once, dropped when too late."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.cli.terminal.exit import Exit
from arena.cli.terminal.run import run
from arena.cluster import spool as spool_module
from arena.cluster.spool import Arrival, Backlog, Spool
from arena.coordinator import coordinator as coordinator_module
from arena.coordinator.background import REMINDER_INTERVAL_S, OutageLog
from arena.coordinator.coordinator import Coordinator
from arena.coordinator.executors import publisher
from arena.coordinator.leadership import LEASE
from arena.coordinator.maintenance import Maintenance
from arena.errors import BadValueError, DamagedDatabaseError, LeaseLostError, StoreUnavailableError
from arena.events.messages import CoordinatorChanged, GameEnded
from arena.store import Store, url_in
from arena.store.tournaments.tournaments import LiveTournament
from arena.submission.bundle_store import BundleStore
from referee.game.record import GameRecord
from referee.game.spec import BotSpec, GameSpec, PlannedGame
from referee.machine.pool import WorkerLostError
from referee.rules.core import Termination
from tests.arena.coordinator.stage import NOW, Dice, Stage, on_sqlite, record_of, void_of
from tests.arena.coordinator.test_maintenance import never
from tests.arena.coordinator.test_run import Events, acting, heard, lease_gauges
from tests.arena.store.damage import damage


class Away:
    """A database that tests can make unavailable; `asked` counts failed accesses."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_away, self.asked = False, 0
        for name in ("reading", "writing"):
            monkeypatch.setattr(store.sessions, name, self._wrapped(getattr(store.sessions, name)))

    def _wrapped(self, method: Any) -> Any:
        @contextmanager
        def session(**options: Any) -> Iterator[Any]:
            if self.is_away:
                self.asked += 1
                raise StoreUnavailableError("away")
            with method(**options) as opened:
                yield opened

        return session


@pytest.fixture
def away(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Away:
    """Return the database of the stage."""
    return Away(stage.store, monkeypatch)


def waiting(coordinator: Coordinator) -> float | None:
    """Return the gauge of waiting results."""
    return coordinator.metrics.registry.get_sample_value("arena_results_waiting")


def dropped(coordinator: Coordinator, reason: str) -> float | None:
    """Return the counter of dropped results."""
    return coordinator.metrics.registry.get_sample_value("arena_results_dropped_total", {"reason": reason})


def test_an_outage_longer_than_the_lease_loses_no_result_and_no_running_game(stage: Stage, away: Away) -> None:
    stage.settings = stage.settings.model_copy(update={"lease_ttl_seconds": 0.2})
    number = stage.create(games=2)
    dice = Dice(is_held=True)

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        await dice.jobs(4)
        dice.begin()
        away.is_away = True
        dice.release(3)
        while away.asked < 20 or waiting(coordinator) != 6:  # a renewal is tried every 0.07 s, a result every second
            await asyncio.sleep(0.01)
        assert (coordinator.state, waiting(coordinator), dice.called_off) == ("acting", 6, [])
        assert lease_gauges(coordinator) == (0, 0), "whose the lease is cannot be known"
        away.is_away = False
        for _ in range(6):
            await heard(events, GameEnded, state="finished")
        assert waiting(coordinator) == 0
        dice.is_held = False
        dice.release()
        for _ in range(6):
            await heard(events, GameEnded, state="finished")

    acting(stage, dice, script)
    assert len(dice.played) == len(set(dice.played)) == 12
    stage.check_exactly_once(number, 12)


@on_sqlite
def test_a_coordinator_killed_during_an_outage_loses_no_result(stage: Stage, away: Away) -> None:
    number = stage.create(games=2)
    old = Dice(is_held=True)
    coordinator = stage.coordinator(old)
    coordinator.turn()
    away.is_away = True
    old.release(2)
    with pytest.raises(StoreUnavailableError):
        coordinator.turn()
    old.release(1)  # one that was not processed
    away.is_away = False
    new = stage.play(number)
    assert len(old.played) == len(new.played) == 6
    assert set(old.played).isdisjoint(new.played)
    stage.check_exactly_once(number, 12)
    assert list((stage.settings.data / "spool").iterdir()) == []


@on_sqlite
def test_a_stop_during_an_outage_leaves_the_results_in_the_spool(
    stage: Stage, away: Away, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinator_module, "OFFER_TIMEOUT_S", 0.0)  # not the grace period of running games
    number = stage.create(games=2)
    old = Dice(is_held=True)

    async def script(coordinator: Coordinator, events: Events, stop: asyncio.Event) -> None:
        await old.jobs(4)
        away.is_away = True
        old.release()
        stop.set()
        await heard(events, CoordinatorChanged, state="stopped")

    acting(stage, old, script)
    away.is_away = False
    new = stage.play(number)
    assert (len(old.played), len(new.played)) == (8, 4)
    stage.check_exactly_once(number, 12)


def test_results_of_the_machine_that_took_over_count(stage: Stage, tmp_path: Path) -> None:
    number = stage.create(games=2)
    old_dice, new_dice = Dice(is_held=True), Dice(is_held=True)
    old = stage.coordinator(old_dice)
    old.turn()
    stage.settings = stage.settings.model_copy(update={"data": tmp_path / "elsewhere"})
    new = stage.coordinator(new_dice)
    old_dice.release()
    with pytest.raises(LeaseLostError):
        old.turn()
    new.turn()
    assert (waiting(old), waiting(new), len(new_dice.held)) == (8, 0, 4)
    new_dice.release(3)
    new.turn()
    for _ in range(2):  # only results that still wait at the second review are dropped
        old.recorder.review()
    assert (waiting(old), dropped(old, "over")) == (2, 6)
    seen = stage.store.leases.get(LEASE)
    assert stage.store.leases.take(LEASE, old.leadership.name, 3600, seen)  # the new one is lost, with what it plays
    old.in_flight.forget()
    old.take_over()
    for _ in range(10):
        old.turn()
        old_dice.release()
    assert (waiting(old), dropped(old, "over")) == (0, 6)
    assert len(old_dice.played) == 8 + 4
    stage.check_exactly_once(number, 12)


STATES = {
    "planned": True,
    "queued": True,
    "running": True,
    "finished": False,
    "void": False,
    "cancelled": False,
    "unknown": False,
    "of other bots": False,
}


@pytest.mark.parametrize("state", STATES)
@on_sqlite
def test_a_waiting_result_is_committed_or_dropped_by_the_state_of_its_game(stage: Stage, state: str) -> None:
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})
    dice = Dice(is_held=True)
    stage.coordinator(dice).turn()
    (_, (game, _)), queue = dice.held[0], stage.store.queue
    result = record_of(game, winner="first", termination=Termination.RESIGNED)
    queue.give_back()
    match state:
        case "queued" | "running":  # owned by another running process
            assert queue.hand_out([game.id], "another") == [game.id]
            if state == "running":
                queue.start(game.id)
        case "finished":
            stage.store.results.commit(replace(result, winner="second"), "another")
        case "void":
            stage.store.voids.add(void_of(game), 1, "another", give_up=True)
        case "cancelled":
            queue.cancel(number)
        case "unknown":
            result = replace(result, id="0123456789abcdef")
        case "of other bots":
            result = replace(result, first="somebody")
    Spool(stage.settings.data / "spool").keep(result)
    coordinator = stage.apart(Dice())
    stage.store.leases.take(LEASE, coordinator.leadership.name, 3600, stage.store.leases.get(LEASE))
    live: list[LiveTournament] = []
    stage.store.tournaments.live = lambda: live  # type: ignore[method-assign]
    coordinator.take_over()
    coordinator.turn()
    kept = stage.store.games.get(game.id)
    expected = {"finished": "second", "void": None, "cancelled": None}.get(state, "first" if STATES[state] else None)
    assert kept.winner == expected
    assert sum(dropped(coordinator, reason) or 0 for reason in ("over", "refused")) == (not STATES[state])
    assert waiting(coordinator) == 0
    assert stage.store.ratings.check() == []


@on_sqlite
def test_a_result_is_recorded_before_its_job_ends(stage: Stage) -> None:
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    dice.begin()
    first, second = dice.held[0][1]
    coordinator.spool.keep(record_of(first))  # as slots do
    for _ in range(2):
        stage.now += timedelta(seconds=2)
        coordinator.turn()
    states = [stage.store.games.get(game.id).state for game in (first, second)]
    assert states == ["finished", "queued"]
    dice.reply = lambda game: record_of(second)  # the arena has the first one already
    dice.release()
    coordinator.turn()
    stage.check_exactly_once(number, 2)
    stage.now += timedelta(seconds=2)
    coordinator.turn()
    assert (waiting(coordinator), dropped(coordinator, "over")) == (0, None)


def told(coordinator: Coordinator, stage: Stage, **event: Any) -> None:
    """Pass an event of a running job to the coordinator directly, as these tests have no bus."""
    publisher(stage.bus, coordinator.spool)({"event": "finish", "attempt": 1, **event})
    coordinator.recorder.game_ended(event["game"])


@pytest.mark.parametrize("is_elsewhere", [False, True])
@on_sqlite
def test_a_result_is_in_the_spool_before_the_next_game_of_its_job_starts(stage: Stage, is_elsewhere: bool) -> None:
    stage.settings = stage.settings.model_copy(update={"verify_sample_rate": 0.0})
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    dice.begin()
    _, (first, second) = dice.held[0]
    if is_elsewhere:  # on a cluster worker, which has no local spool
        told(coordinator, stage, game=first.id, record=record_of(first).line(), worker="far-1")
        unknown = "0123456789abcdef"
        told(coordinator, stage, game=unknown, record=replace(record_of(first), id=unknown).line(), worker="far-1")
        told(coordinator, stage, game=second.id, record="no record", worker="far-1")
        told(coordinator, stage, game=second.id, record=record_of(first).line(), worker="far-1")
    else:
        coordinator.recorder.game_began(first.id)
        coordinator.spool.keep(record_of(first))
        told(coordinator, stage, game=first.id)
    coordinator.recorder.game_began(second.id)
    coordinator.turn()  # at the same moment: no periodic work runs
    games = [stage.store.games.get(game.id) for game in (first, second)]
    assert [game.state for game in games] == ["finished", "running"]
    charged = [game_id for _, game_id, _, _ in stage.store.results.with_plans(worker="far-1", after=0)]
    assert charged == ([first.id] if is_elsewhere else [])
    dice.reply = lambda game: record_of(second)  # the arena has the first one already
    dice.release()
    coordinator.turn()
    stage.check_exactly_once(number, 2)
    assert (waiting(coordinator), dropped(coordinator, "over")) == (0, None)


@on_sqlite
def test_a_tournament_ends_with_its_last_result_before_its_job_ends(stage: Stage) -> None:
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    dice.begin()
    future, games = dice.held.pop()
    for game in games:
        coordinator.spool.keep(record_of(game))
        told(coordinator, stage, game=game.id)
    coordinator.turn()
    assert stage.tournament(number).state == "finished"
    coordinator.turn()
    assert dice.called_off == []
    future.set_result(None)
    coordinator.turn()
    assert coordinator.in_flight.jobs == {}
    stage.check_exactly_once(number, 2)


@on_sqlite
def test_a_job_without_a_result_is_charged_to_its_worker_and_retried(stage: Stage) -> None:
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    dice.begin()
    future, (first, second) = dice.held.pop()
    coordinator.spool.keep(record_of(first))
    future.set_result(None)
    for _ in range(2):
        coordinator.turn()
    assert [len(stage.store.voids.of(game.id)) for game in (first, second)] == [0, 1]
    dice.release()
    coordinator.turn()
    assert dice.played == [second.id]
    stage.check_exactly_once(number, 2)


@on_sqlite
def test_records_in_the_return_value_of_a_job_are_ignored(stage: Stage) -> None:
    """Results and void attempts count only through the spool."""
    stage.create(games=2, entries={"bots": ["ada", "bob"]})
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    dice.begin()
    future, games = dice.held.pop()
    future.set_result([record_of(games[0]).line(), void_of(games[1], Termination.SANDBOX_FAILED).line()])
    coordinator.turn()
    assert stage.store.games.counts(1).get("finished") is None
    assert [void.termination for void in stage.store.voids.page().items] == ["worker-lost"]


@pytest.mark.parametrize("is_seen", [False, True])
@on_sqlite
def test_results_of_a_lost_slot_count_and_the_running_game_is_charged(stage: Stage, is_seen: bool) -> None:
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    dice.begin()
    future, (first, second) = dice.held.pop()
    coordinator.recorder.game_began(first.id)
    coordinator.spool.keep(record_of(first))
    if is_seen:
        stage.now += timedelta(seconds=2)
        coordinator.turn()
    future.set_exception(WorkerLostError("gone"))
    for _ in range(2):
        coordinator.turn()
    assert stage.store.games.get(first.id).state == "finished"
    assert stage.store.voids.of(first.id) == []
    assert len(stage.store.voids.of(second.id)) == 1
    dice.release()
    coordinator.turn()
    assert dice.played == [second.id]
    stage.check_exactly_once(number, 2)


class KilledError(BaseException):
    """The simulated end of the process."""


@pytest.mark.parametrize("moment", ["before the spool", "before the commit", "before its removal"])
def test_a_kill_at_any_moment_of_a_result_records_it_once(
    stage: Stage, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> Any:
        raise KilledError

    number = stage.create(games=2)
    old = Dice(is_held=True)
    coordinator = stage.coordinator(old)
    coordinator.turn()

    def go_on() -> None:
        old.release(2)
        coordinator.turn()

    targets = {"spool": (Spool, "write"), "commit": (stage.store.results, "commit_all"), "removal": (Spool, "forget")}
    with monkeypatch.context() as patch:
        patch.setattr(*targets[moment.rsplit(maxsplit=1)[-1]], killed)
        with pytest.raises(KilledError):
            go_on()
    in_spool = len(Spool(stage.settings.spool_folder))
    assert in_spool == {"before the spool": 0, "before the commit": 4, "before its removal": 4}[moment]
    new = stage.play(number)
    assert len(new.played) == 12 - in_spool, "what was in the spool is not played again"
    stage.check_exactly_once(number, 12)
    assert list(stage.settings.spool_folder.iterdir()) == []


@pytest.mark.parametrize("moment", ["before the spool", "before the commit", "before its removal", "after its removal"])
@pytest.mark.parametrize("is_started", [True, False])
@on_sqlite
def test_a_kill_at_any_moment_of_a_void_attempt_records_it_at_most_once(
    stage: Stage, moment: str, is_started: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slot and the coordinator die, and with them the future of the job; the next coordinator reads the spool."""

    def killed(*_: Any, **__: Any) -> Any:
        raise KilledError

    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})
    old = Dice(lambda game: void_of(game) if game.attempt == 1 else record_of(game), is_held=True)
    coordinator = stage.coordinator(old)
    coordinator.turn()
    games = old.held[0][1]
    if is_started:
        for game in games:
            coordinator.recorder.game_began(game.id)
        coordinator.turn()
    targets = {"spool": (Spool, "write"), "commit": (stage.store.voids, "add"), "removal": (Spool, "forget")}
    with monkeypatch.context() as patch:
        if moment != "after its removal":
            patch.setattr(*targets[moment.rsplit(maxsplit=1)[-1]], killed)
        with contextlib.suppress(KilledError):
            old.release()
            coordinator.turn()
    new = stage.play(number, Dice())
    stage.check_exactly_once(number, 2)
    is_spooled = moment != "before the spool"
    assert [[void.attempt for void in stage.store.voids.of(game.id)] for game in games] == 2 * [[1] * is_spooled]
    assert len(new.played) == 2
    attempts = {stage.store.games.get(game.id).attempt for game in games}
    assert attempts == {2 if is_started or is_spooled else 1}
    assert list(stage.settings.spool_folder.iterdir()) == []


@on_sqlite
def test_a_void_attempt_of_a_lost_slot_counts_once_and_charges_no_other_attempt(stage: Stage) -> None:
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    dice.begin()
    future, (first, second) = dice.held.pop()
    coordinator.spool.keep(record_of(first))
    coordinator.recorder.game_began(second.id)
    coordinator.spool.keep(void_of(second, Termination.SANDBOX_FAILED), second.attempt)
    future.set_exception(WorkerLostError("gone"))
    for _ in range(2):
        coordinator.turn()
    assert [void.termination for void in stage.store.voids.page().items] == ["sandbox-failed"]
    dice.release()
    coordinator.turn()
    assert dice.played == [second.id]
    stage.check_exactly_once(number, 2)


@on_sqlite
def test_a_late_void_attempt_of_an_earlier_owner_does_not_end_the_present_one(stage: Stage) -> None:
    stage.create(games=2, entries={"bots": ["ada", "bob"]})
    old = Dice(is_held=True)
    coordinator = stage.coordinator(old)
    coordinator.turn()
    first = old.held[0][1][0]
    coordinator.recorder.game_began(first.id)
    coordinator.turn()
    new = stage.coordinator(Dice(is_held=True))
    new.turn()
    assert (game := stage.store.games.get(first.id)).state == "queued"
    assert game.attempt == 2
    coordinator.spool.keep(void_of(first), 1)
    new.recorder.restore()
    new.turn()
    assert [void.attempt for void in stage.store.voids.of(first.id)] == [1]
    assert stage.store.games.get(first.id).state == "queued"
    assert not any(job.is_over for job in new.in_flight.jobs.values())
    assert waiting(new) == 0


@on_sqlite
def test_results_that_the_disk_refuses_stay_in_memory(stage: Stage, away: Away) -> None:
    number = stage.create(games=2)
    folder = stage.settings.data / "spool"
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("in the way")  # stands for a full disk
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice)
    coordinator.turn()
    away.is_away = True
    dice.begin()
    future, games = dice.held.pop(0)
    for game in games:  # as a slot that cannot write
        told(coordinator, stage, game=game.id, record=record_of(game).line())
    future.set_result(None)
    with pytest.raises(StoreUnavailableError):
        coordinator.turn()
    assert waiting(coordinator) == 2
    folder.unlink()
    with pytest.raises(StoreUnavailableError):
        coordinator.turn()
    assert len(Spool(folder)) == 2
    dice.release(1)
    away.is_away = False
    while stage.tournament(number).state != "finished":
        coordinator.turn()
        dice.release()
    stage.check_exactly_once(number, 12)
    assert len(dice.played) == 10
    assert list(folder.iterdir()) == []


@on_sqlite
def test_a_truncated_result_is_renamed_and_its_game_replayed(stage: Stage) -> None:
    number = stage.create(games=2, entries={"bots": ["ada", "bob"]})
    dice = Dice(is_held=True)
    stage.coordinator(dice).turn()
    spool = Spool(stage.settings.data / "spool")
    first, second = dice.held[0][1]
    spool.keep(record_of(first))
    path = spool.folder / f"{first.id}.json"
    path.write_bytes(path.read_bytes()[:100])
    spool.keep(record_of(second))
    (spool.folder / f"{second.id}.json").rename(spool.folder / "0123.json")
    stage.play(number)
    stage.check_exactly_once(number, 2)
    assert sorted(path.name for path in spool.folder.iterdir()) == ["0123.unreadable", f"{first.id}.unreadable"]


@on_sqlite
def test_an_invalid_result_blocks_no_other(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    number = stage.create(games=2)
    commit, sick = stage.store.results.commit_all, set[str]()

    def refuse(records: list[GameRecord], owner: str) -> Any:
        if not sick:
            sick.add(records[-1].id)
        if any(record.id in sick for record in records):
            raise BadValueError("a text that cannot be held")
        return commit(records, owner)

    monkeypatch.setattr(stage.store.results, "commit_all", refuse)
    coordinator = stage.coordinator(Dice())
    for _ in range(10):
        coordinator.turn()
    assert stage.store.games.counts(number) == {"queued": 1, "finished": 11}
    assert (waiting(coordinator), dropped(coordinator, "refused")) == (0, 1)


def test_a_result_that_cannot_be_encoded_stays_in_memory(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    record = replace(
        record_of(PlannedGame.of(GameSpec("loa", "standard", BotSpec("a", ("a",)), BotSpec("b", ("b",))))),
        detail="\ud800",
    )
    spool.keep(record)
    spool.sync()
    assert spool.names() == [record.id]
    assert spool.read(record.id) == Arrival(record)
    spool.forget(record.id)
    assert spool.names() == []


@on_sqlite
def test_result_files_are_private(stage: Stage) -> None:
    stage.create(games=2)
    dice = Dice(is_held=True)
    stage.coordinator(dice).turn()
    spool = Spool(stage.settings.data / "spool")
    spool.keep(record_of(dice.held[0][1][0]))
    (found,) = spool.folder.iterdir()
    assert (spool.folder.stat().st_mode & 0o777, found.stat().st_mode & 0o777) == (0o700, 0o600)


def test_an_outage_is_logged_once_periodically_and_at_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    clock = {"now": 0.0}
    outage = OutageLog(lambda: Backlog(7, NOW), lambda: clock["now"])
    interval_s = REMINDER_INTERVAL_S
    for at in (0.0, 1.0, interval_s - 1, interval_s, interval_s + 1, 2 * interval_s):
        clock["now"] = at
        outage.note(StoreUnavailableError("away"), "lease")
        outage.note(StoreUnavailableError("away"), "turn")
        outage.over("turn")  # a turn without writes
    outage.over("lease")
    outage.over("lease")
    outage.note(StoreUnavailableError("away"), "turn")
    lines = capsys.readouterr().out.splitlines()
    told = ["back" if "database available" in line else "away" for line in lines]
    assert told == ["away", "away", "away", "back", "away"]
    assert all(f"results_waiting=7 results_waiting_since={NOW.isoformat()}" in line for line in lines)


def test_backlog_keeps_the_arrival_of_a_result_that_reaches_the_disk_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [
        record_of(PlannedGame.of(GameSpec("loa", "standard", BotSpec("a", ("a",)), BotSpec("b", ("b",)), seed=seed)))
        for seed in range(2)
    ]
    spool = Spool(tmp_path / "spool")
    assert spool.backlog() == Backlog(0, None)
    assert spool.backlog().age_s == 0
    spool.folder.write_text("in the way")
    monkeypatch.setattr(spool_module.time, "time", NOW.timestamp)
    spool.keep(records[0])
    assert (spool.backlog(), Spool(spool.folder).backlog().count) == (Backlog(1, NOW), 0)
    spool.folder.unlink()
    spool.sync()
    spool.keep(records[1])
    assert spool.backlog() == Spool(spool.folder).backlog() == Backlog(2, NOW)
    monkeypatch.setattr(spool_module.time, "time", lambda: NOW.timestamp() + 90)
    assert spool.backlog().age_s == 90
    for record in records:
        spool.forget(record.id)
    assert spool.backlog() == Backlog(0, None)


def test_a_restored_backup_gets_all_spooled_results(
    sqlite_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(sqlite_store, tmp_path)
    number = stage.create(games=2)
    maintenance = Maintenance.of(stage.settings, sqlite_store, lambda: BundleStore.of(stage.settings))
    stage.coordinator(Dice(is_held=True)).turn()
    dice = Dice(is_held=True)
    coordinator = stage.coordinator(dice, maintenance=maintenance)
    coordinator.turn()
    maintenance.run_due(stage.now, never)  # the first backup, while games are in flight
    assert len(list((tmp_path / "backups").iterdir())) == 1
    dice.release(2)
    coordinator.turn()
    assert stage.store.games.counts(number)["finished"] == 4
    damage(tmp_path / "arena.sqlite3")
    stage.now += timedelta(days=1)
    coordinator.turn()
    maintenance.run_due(stage.now, never)
    dice.release(1)
    for _ in range(3):
        with pytest.raises(DamagedDatabaseError):
            coordinator.turn()
    assert waiting(coordinator) == 2
    assert len(list((tmp_path / "backups").iterdir())) == 1, "no backup of what is damaged"
    sqlite_store.close()
    capsys.readouterr()
    assert run(["db", "check", "--data", str(tmp_path)]) == Exit.FAILED
    assert "the database is damaged" in capsys.readouterr().out
    with monkeypatch.context() as patch:
        patch.setattr("os.geteuid", lambda: 4242)
        assert run(["db", "restore", "--data", str(tmp_path)]) == Exit.USAGE  # the restored file could not be read
    assert run(["db", "restore", "--data", str(tmp_path), "--json"]) == Exit.DONE
    document = json.loads(capsys.readouterr().out)
    assert (document["salvaged"], document["waiting"]) == (4, 6)
    assert run(["db", "check", "--data", str(tmp_path)]) == Exit.DONE
    stage.store = Store(url_in(tmp_path))
    again = stage.play(number)
    assert len(again.played) == 6
    assert set(again.played).isdisjoint(dice.played)
    stage.check_exactly_once(number, 12)
    stage.store.close()
