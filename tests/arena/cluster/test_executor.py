"""The executor of a cluster: jobs, events, cancellation, dying workers and replaced schedulers."""

from __future__ import annotations

import pickle
import signal
import time
from concurrent.futures import CancelledError, Future, wait
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from arena.cluster.executor import ClusterExecutor, _settle, _settle_answer
from arena.cluster.game_runner import play_bundled
from arena.cluster.jobs import call_encoded, decode_result
from arena.cluster.wire_config import ClusterError
from referee.game.record import GameRecord
from referee.game.spec import PlannedGame
from referee.machine.pool import JobError, WorkerLostError
from tests.arena.cluster import processes
from tests.arena.cluster.conftest import Cluster, Opener
from tests.arena.cluster.processes import BLACK_RESIGNS, MUTE, RESIGN, TIMEOUT_S, WHITE_PLAYS, Command, are_gone, pair
from tests.arena.field import record_of
from tests.port import free_port


def outcome(future: Future[Any]) -> Any:
    """Return the answer of a job, or its exception."""
    try:
        return future.result(TIMEOUT_S)
    except (CancelledError, WorkerLostError) as error:
        return type(error)


def ids(games: list[PlannedGame]) -> set[str]:
    """Return the ids of a pair of games."""
    return {game.id for game in games}


def begin(executor: ClusterExecutor, worker: Command, folder: Path) -> Future[Any]:
    """Start an endless game on this worker."""
    future = executor.submit(play_bundled, pair(MUTE, RESIGN), processes.place(folder), True)
    processes.wait(lambda: future.running() and len(worker.bots()) == 2, "a game that runs")
    return future


def played(executor: ClusterExecutor, future: Future[Any], games: list[PlannedGame], folder: Path) -> Any:
    """Return the outcome of a job, submitting it again while its worker is gone."""
    until = time.monotonic() + processes.TIMEOUT_S
    while (found := outcome(future)) is CancelledError and time.monotonic() < until:
        future = executor.submit(play_bundled, games, processes.place(folder), True)
    return found


def test_without_workers_games_wait(
    cluster: Cluster, open_executor: Opener, results: dict[str, GameRecord], tmp_path: Path
) -> None:
    executor = open_executor()
    place = processes.place(tmp_path)
    if not executor.size:  # the first test of this session
        pairs = [pair(RESIGN, RESIGN, number) for number in range(3)]
        futures = [executor.submit(play_bundled, games, place, True) for games in pairs]
        assert futures[2].cancel()
        assert not wait(futures[:2], 0.5).done
        cluster.worker()
        assert [outcome(future) for future in futures[:2]] == [None, None]
        assert results.keys() == ids(pairs[0]) | ids(pairs[1])


def test_a_pair_is_played_and_its_events_arrive(
    cluster: Cluster, open_executor: Opener, results: dict[str, GameRecord], tmp_path: Path
) -> None:
    cluster.worker()
    events: list[dict[str, Any]] = []
    executor = open_executor(on_event=events.append)
    games = pair(BLACK_RESIGNS, WHITE_PLAYS)
    future = executor.submit(play_bundled, games, processes.place(tmp_path), True)
    assert outcome(future) is None
    records = [results[game.id] for game in games]  # each arrived before the end of the job
    assert [record.sandbox for record in records] == ["none", "none"]
    moves = [(event["game"], move) for event in events if event["event"] == "plies" for move in event["moves"]]
    assert moves == [(record.id, move) for record in records for move in record.moves]
    assert [event["game"] for event in events if event["event"] == "start"] == [game.id for game in games]
    order = [event["event"] for event in events if event["event"] in ("start", "finish")]
    assert order == ["start", "finish"] * 2
    (state,) = executor.describe().workers
    assert {record.worker for record in records} == {state.id}
    assert (state.slots, state.sandbox, state.is_fit, executor.size) == (1, "none", True, 1)


def test_the_exception_of_a_job_is_returned(cluster: Cluster, open_executor: Opener) -> None:
    cluster.worker()
    with pytest.raises(JobError, match="invalid literal"):
        open_executor().submit(int, "one").result(TIMEOUT_S)
    with pytest.raises(TypeError, match="positional"):
        open_executor().submit(int, x=1)


def test_the_result_of_a_job_is_json_with_records(cluster: Cluster, open_executor: Opener) -> None:
    cluster.worker()
    assert open_executor().submit(int, "17").result(TIMEOUT_S) == 17
    record = record_of(pair(RESIGN, RESIGN)[0])
    assert decode_result(call_encoded(list, [record, "text"])) == [record, "text"]
    with pytest.raises(JobError, match="not set"):
        open_executor().submit(set, "17").result(TIMEOUT_S)


class UnpickledError(Exception):
    """Data of a worker was unpickled."""

    @classmethod
    def explode(cls) -> None:
        raise cls

    def __reduce__(self) -> Any:
        return (self.explode, ())


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, '{"game record":"x"}', '{"game record":1}', None, 7, pickle.dumps(UnpickledError())],
)
def test_an_invalid_result_counts_as_a_lost_worker(text: Any) -> None:
    future: Future[Any] = Future()
    _settle_answer(future, {"result": text})
    assert outcome(future) is WorkerLostError


def test_a_record_counts_only_in_the_job_of_its_game(
    cluster: Cluster, open_executor: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, Any]] = []
    executor = open_executor(on_event=told.append)
    monkeypatch.setattr(executor._loop, "call", lambda *_: None)  # the job never starts
    games = pair(MUTE, RESIGN)
    executor.submit(play_bundled, games, None)
    (key,) = executor._jobs
    line = record_of(games[0]).line()
    for event in (
        {"key": "other", "game": games[0].id},
        {"key": key, "game": "../elsewhere"},
        {"game": games[0].id},
        {"key": key},
        {"key": key, "game": games[0].id, "worker": "somebody", "attempt": 9},
    ):
        executor._handle_events((0.0, [{"event": "finish", "record": line, **event}]))
    (kept,) = told
    assert (kept["game"], kept["worker"], kept["attempt"]) == (games[0].id, "unknown", 1)


def test_cancelling_ends_the_game_and_its_bots(cluster: Cluster, open_executor: Opener, tmp_path: Path) -> None:
    executor, worker = open_executor(), cluster.worker()
    running = begin(executor, worker, tmp_path)
    waiting = executor.submit(play_bundled, pair(RESIGN, RESIGN, 1), processes.place(tmp_path), True)
    bots = worker.bots()
    executor.call_off(running)
    assert outcome(running) is CancelledError
    processes.wait(lambda: are_gone(bots), "the end of its bots")
    assert outcome(waiting) is None, "the slot is free again"


def test_games_of_a_disconnected_arena_are_stopped(cluster: Cluster, open_executor: Opener, tmp_path: Path) -> None:
    executor, worker = open_executor(), cluster.worker()
    running = begin(executor, worker, tmp_path)
    bots = worker.bots()
    executor.shutdown(cancel_futures=True)
    assert outcome(running) is CancelledError
    processes.wait(lambda: are_gone(bots), "the end of its bots")
    with pytest.raises(RuntimeError, match="closed"):
        executor.submit(play_bundled, pair(MUTE, RESIGN), processes.place(tmp_path), True)


def test_arena_and_workers_reconnect_to_a_new_scheduler(
    cluster: Cluster, open_executor: Opener, tmp_path: Path
) -> None:
    executor, worker = open_executor(), cluster.worker()
    begun = begin(executor, worker, tmp_path)
    bots = worker.bots()
    cluster.scheduler().kill()
    assert outcome(begun) is CancelledError
    held = executor.submit(play_bundled, pair(RESIGN, RESIGN), processes.place(tmp_path), True)
    processes.wait(lambda: are_gone(bots), "the end of its bots")
    assert (executor.size, executor.describe().is_connected) == (0, False)
    assert not held.done()
    cluster.scheduler()
    assert outcome(held) is None
    assert executor.describe().is_connected
    processes.wait(lambda: executor.size == 1, "the worker's return")


@pytest.mark.long
def test_a_worker_without_heartbeat_loses_its_games_and_rejoins(
    open_executor: Opener, results: dict[str, GameRecord], tmp_path: Path
) -> None:
    with (
        processes.scheduler(ttl_s=10) as (address, _),
        processes.worker(address, tmp_path / "worker", "--grace", "5") as worker,
    ):
        executor = open_executor(address=address)
        begun = begin(executor, worker, tmp_path)
        bots = worker.bots()
        worker.signal(signal.SIGSTOP)
        assert outcome(begun) is WorkerLostError
        again = executor.submit(play_bundled, pair(RESIGN, RESIGN), processes.place(tmp_path), True)
        worker.signal(signal.SIGCONT)
        processes.wait(lambda: are_gone(bots), "the end of its bots")
        assert played(executor, again, pair(RESIGN, RESIGN), tmp_path) is None
        assert results.keys() == ids(pair(RESIGN, RESIGN))
        processes.wait(lambda: executor.size == 1, "the worker's return")
        executor.shutdown(cancel_futures=True)


def test_a_killed_worker_fails_only_its_running_jobs(cluster: Cluster, open_executor: Opener, tmp_path: Path) -> None:
    executor, worker = open_executor(), cluster.worker()
    begun = begin(executor, worker, tmp_path)
    waiting = executor.submit(play_bundled, pair(RESIGN, RESIGN, 1), processes.place(tmp_path), True)
    (slot,) = worker.slots()
    slot.send_signal(signal.SIGSTOP)  # it cannot see the end of its socket
    family = worker.kill()
    assert outcome(begun) is WorkerLostError
    processes.wait(lambda: are_gone(family), "the end of slots and bots")
    cluster.worker()
    assert played(executor, waiting, pair(RESIGN, RESIGN, 1), tmp_path) is None


def test_a_cancelled_job_notifies_waiters_of_several_futures() -> None:
    future: Future[int] = Future()
    settled = Event()
    waiting = Thread(target=lambda: wait([future], 60).done and settled.set())
    waiting.start()
    _settle(future, error=CancelledError())
    waiting.join()
    assert settled.is_set()
    assert future.cancelled()
    _settle(future, error=CancelledError())
    _settle(future, 1)
    running: Future[int] = Future()
    assert running.set_running_or_notify_cancel()
    _settle(running, error=CancelledError())
    assert isinstance(running.exception(), CancelledError)


def test_a_stopping_worker_finishes_its_game(
    cluster: Cluster, open_executor: Opener, results: dict[str, GameRecord], tmp_path: Path
) -> None:
    executor, worker, place = open_executor(), cluster.worker(), processes.place(tmp_path)
    pairs = [pair(BLACK_RESIGNS, WHITE_PLAYS, number) for number in range(4)]
    futures = [executor.submit(play_bundled, games, place, True) for games in pairs]
    # On a quiet machine the first pair may be over before the check; then the others are running.
    processes.wait(lambda: futures[0].running() or futures[0].done(), "a game that runs")
    worker.signal(signal.SIGTERM)
    assert worker.end() == 0, worker.said
    assert outcome(futures[0]) is None
    assert results.keys() >= ids(pairs[0])
    cluster.worker()
    for games, future in zip(pairs, futures, strict=True):
        assert played(executor, future, games, tmp_path) is None
        assert results.keys() >= ids(games)


def test_a_stopping_worker_waits_at_most_the_grace_period(
    cluster: Cluster, open_executor: Opener, results: dict[str, GameRecord], tmp_path: Path
) -> None:
    executor, worker = open_executor(), cluster.worker()
    future = begin(executor, worker, tmp_path)
    family = worker.family()
    worker.signal(signal.SIGTERM)
    worker.until("finishing the running games")
    worker.signal(signal.SIGTERM)
    assert worker.end() == 0, worker.said
    assert outcome(future) is None
    assert results[pair(MUTE, RESIGN)[0].id].termination == "stopped"
    processes.wait(lambda: are_gone(family), "the end of slots and bots")


def test_a_missing_scheduler_is_reported() -> None:
    port = free_port()
    with pytest.raises(ClusterError, match=f"no Dask scheduler answers at tcp://127.0.0.1:{port}.*arena scheduler"):
        ClusterExecutor(f"tcp://127.0.0.1:{port}", connect_timeout_s=0.1)
