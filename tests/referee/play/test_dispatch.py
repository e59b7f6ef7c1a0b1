"""The dispatcher over real slot processes and over a scripted executor: exactly once, whatever dies."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any

import pytest

from referee.game.record import GameRecord
from referee.game.spec import PlannedGame, TimeControl
from referee.machine.pool import JobError, SlotPool, WorkerLostError
from referee.play.dispatch import ATTEMPTS, Dispatcher, left_to_play
from referee.play.slot import play_games
from referee.rules.core import Kind, Termination
from tests.referee.conftest import a_record

pytestmark = pytest.mark.usefixtures("interpreted")
LONG = TimeControl("clock", 600_000, 0)
"""For games that end when they are called off, and not before."""


def planned_games(build: Callable[..., PlannedGame], count: int) -> list[PlannedGame]:
    """Games in pairs; each ends at once by a resignation."""
    return [build(["resign"], [], sequence=number + 1, pair=number // 2 + 1) for number in range(count)]


class Scripted(Executor):
    """Answers jobs at once with what `reply` makes of them."""

    def __init__(self, reply: Callable[[list[PlannedGame]], list[GameRecord]]) -> None:
        self.reply = reply
        self.jobs: list[list[int]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        job: list[PlannedGame] = args[0]
        self.jobs.append([game.spec.sequence for game in job])
        future: Future[Any] = Future()
        try:
            future.set_result(self.reply(job))
        except Exception as error:
            future.set_exception(error)
        return future


def done(game: PlannedGame) -> GameRecord:
    """A record of the game."""
    return a_record(id=game.id, sequence=game.spec.sequence, pair=game.spec.pair)


def test_void_games_are_played_again_and_only_they(game: Callable[..., PlannedGame]) -> None:
    failures = {2: 2}

    def reply(job: list[PlannedGame]) -> list[GameRecord]:
        records = []
        for planned in job:
            if failures.get(planned.spec.sequence, 0) > 0:
                failures[planned.spec.sequence] -= 1
                records.append(
                    replace(done(planned), winner=None, kind=Kind.VOID, termination=Termination.SANDBOX_FAILED)
                )
            else:
                records.append(done(planned))
        return records

    kept: list[int] = []
    executor = Scripted(reply)
    left = Dispatcher(executor, 1, lambda record: kept.append(record.sequence)).run(planned_games(game, 4))
    assert (sorted(kept), left) == ([1, 2, 3, 4], [])
    assert executor.jobs == [[1, 2], [2], [2], [3, 4]]


def test_a_game_that_kills_its_worker_is_given_up_charged_to_nobody(game: Callable[..., PlannedGame]) -> None:
    def reply(job: list[PlannedGame]) -> list[GameRecord]:
        if job[0].spec.sequence == 1:
            raise WorkerLostError("killed")
        return [done(planned) for planned in job]

    kept: list[int] = []
    executor = Scripted(reply)
    left = Dispatcher(executor, 2, lambda record: kept.append(record.sequence)).run(planned_games(game, 4))
    assert [record.sequence for record in left] == [1]
    assert (left[0].kind, left[0].winner) == (Kind.VOID, None)
    assert sum(1 in job for job in executor.jobs) == ATTEMPTS
    assert sorted(kept) == [2, 3, 4]


def test_no_game_is_played_for_nothing_where_it_may_be_enough_after_any(game: Callable[..., PlannedGame]) -> None:
    executor = Scripted(lambda job: [done(one) for one in job])
    kept: list[int] = []
    dispatcher = Dispatcher(executor, 1, lambda record: kept.append(record.sequence))
    assert dispatcher.run(planned_games(game, 12), is_enough=lambda: len(kept) >= 6) == []
    assert executor.jobs == [[1, 2], [3, 4], [5, 6]]


def test_the_pool_is_an_executor_and_keeps_its_slots(game: Callable[..., PlannedGame]) -> None:
    with SlotPool(2) as pool:
        futures = [pool.submit(os.getpid) for _ in range(6)]
        pids = {future.result(timeout=60) for future in futures}
        assert 1 <= len(pids) <= 2
        assert os.getpid() not in pids
        with pytest.raises(JobError, match="ZeroDivisionError"):
            pool.submit(divmod, 1, 0).result(timeout=60)
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(os.getpid)


def test_a_killed_slot_loses_its_job_and_is_replaced() -> None:
    with SlotPool(1) as pool:
        pid = pool.submit(os.getpid).result(timeout=60)
        lost = pool.submit(os.kill, pid, signal.SIGKILL)
        with pytest.raises(WorkerLostError):
            lost.result(timeout=60)
        assert pool.submit(os.getpid).result(timeout=60) != pid


def test_every_game_once_though_slots_are_killed(game: Callable[..., PlannedGame]) -> None:
    games = planned_games(game, 16)
    kept: list[str] = []
    with SlotPool(2) as pool:
        pid = pool.submit(os.getpid).result(timeout=60)

        def keep(record: GameRecord) -> None:
            kept.append(record.id)
            if len(kept) == 5:
                os.kill(pid, signal.SIGKILL)

        assert Dispatcher(pool, 4, keep).run(games) == []
    assert sorted(kept) == sorted(planned.id for planned in games)
    assert left_to_play(games, [a_record(id=game_id) for game_id in kept]) == []


def test_abort_calls_off_a_waiting_game_at_once(game: Callable[..., PlannedGame]) -> None:
    started = threading.Event()
    pool = SlotPool(1, on_event=lambda event: started.set())
    dispatcher = Dispatcher(pool, 1, lambda record: pytest.fail("nothing stands"))
    opening = game([], [], opening=("b1b3",), time=LONG)

    def stop() -> None:
        assert started.wait(60)
        pool.submit(os.getpid).add_done_callback(lambda _: None)
        dispatcher.abort()
        pool.abort()

    stopping = threading.Thread(target=stop)
    stopping.start()
    left = dispatcher.run([opening])
    stopping.join()
    pool.shutdown(cancel_futures=True)
    assert [record.termination for record in left] in ([Termination.STOPPED], [])


class Held(Scripted):
    """Answers nothing before the `size`-th job came; then the first, and others when called off."""

    def __init__(self, size: int) -> None:
        super().__init__(lambda job: [done(one) for one in job])
        self.size = size
        self.held: list[tuple[Future[Any], list[PlannedGame]]] = []
        self.called_off: list[list[int]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        job: list[PlannedGame] = args[0]
        self.jobs.append([game.spec.sequence for game in job])
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        self.held.append((future, job))
        if len(self.held) == self.size:
            first, pair = self.held[0]
            first.set_result(self.reply(pair))
        return future

    def call_off(self, future: Future[Any]) -> None:
        (job,) = [job for held, job in self.held if held is future]
        self.called_off.append([game.spec.sequence for game in job])
        stopped = replace(done(job[1]), winner=None, kind=Kind.VOID, termination=Termination.STOPPED)
        future.set_result([done(job[0]), stopped])


def test_as_soon_as_it_is_enough_what_runs_is_called_off_and_not_played_again(
    game: Callable[..., PlannedGame],
) -> None:
    executor, kept = Held(3), list[int]()
    dispatcher = Dispatcher(executor, 3, lambda record: kept.append(record.sequence))
    assert dispatcher.run(planned_games(game, 20), is_enough=lambda: len(kept) >= 2) == []
    assert executor.jobs == [[1, 2], [3, 4], [5, 6]]
    assert sorted(executor.called_off) == [[3, 4], [5, 6]]
    assert sorted(kept) == [1, 2, 3, 5], "a game that had ended stands"
    assert not dispatcher.is_stopped


def test_one_job_is_called_off_and_the_others_play_on(game: Callable[..., PlannedGame]) -> None:
    endless = game([], [], sequence=1, time=LONG)
    with SlotPool(2) as pool:
        waiting = pool.submit(play_games, [endless])  # its slot is only just being started
        while not waiting.running():
            pass
        pool.call_off(waiting)
        assert [record.termination for record in waiting.result(timeout=60)] == [Termination.STOPPED]
        begun = threading.Event()
        pool._on_event = lambda event: begun.set()
        playing, other = pool.submit(play_games, [endless]), pool.submit(play_games, [game(["resign"], [])])
        assert begun.wait(60)
        assert other.result(timeout=60)[0].termination == Termination.RESIGNED
        pool.call_off(playing)
        assert playing.result(timeout=60)[0].termination == Termination.STOPPED
        assert pool.submit(play_games, [game(["resign"], [])]).result(timeout=60)[0].kind is Kind.FORFEIT


def test_records_and_events_go_by_the_ids_of_the_plan(game: Callable[..., PlannedGame]) -> None:
    events: list[dict[str, Any]] = []
    with SlotPool(1, on_event=events.append) as pool:
        spec = game(["resign"], [], opening=("b1b3",)).spec
        resolved = PlannedGame("planned", replace(spec, first=spec.second, second=spec.first))
        records = pool.submit(play_games, [resolved], True).result(timeout=60)
    assert [record.id for record in records] == ["planned"]
    assert [(event["event"], event["game"]) for event in events] == [("start", "planned"), ("plies", "planned")]
