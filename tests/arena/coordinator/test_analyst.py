"""Analysis: at once what people request, and other results within a budget while the arena is idle."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from arena.analysis.engine import Evaluations, PositionRef
from arena.analysis.engine_jobs import evaluate_in_background, evaluate_on_request
from arena.analysis.game_analysis import BATCH_NODES
from arena.analysis.marking import EvaluatedPosition
from arena.clock import now
from arena.coordinator import analyst as module
from arena.coordinator.analyst import KEPT_S, MIN_IDLE_S, Analyst, RequestAnalyst, ask_in
from arena.offload import OffloadProcess
from arena.store import Store
from referee.game.record import GameRecord
from referee.machine.pool import JobError, WorkerLostError
from tests.arena.field import Field
from tests.conftest import INTERPRETED

DAY = now() - timedelta(hours=12)
Ask = Callable[[GameRecord, Sequence[PositionRef], int], Evaluations]


@pytest.fixture(autouse=True)
def _one_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the day from changing while a test counts analyses."""
    monkeypatch.setattr(module, "today", lambda: DAY)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def even(record: GameRecord, places: Sequence[PositionRef], nodes: int) -> Evaluations:
    return Evaluations(
        "fake", [EvaluatedPosition("first" if place % 2 else "second", 0, "best", "", 9) for place, _ in places]
    )


class Stage:
    """An analyst with a manual clock and a scripted engine."""

    def __init__(self, store: Store, ask: Ask = even, budget: int = 10) -> None:
        self.clock = Clock()
        self.out: list[bool] = []
        """Whether games are in flight at the next checks; False when it is empty."""
        self.stop = threading.Event()
        self.analyst = Analyst(store, self.is_busy, budget=budget, nodes=50, clock=self.clock, ask=ask)

    def is_busy(self) -> bool:
        return bool(self.out) and self.out.pop(0)

    def look(self) -> bool:
        """Run the analyst once; return whether there was anything to do."""
        return self.analyst.work(self.stop)


def serve(store: Store, ask: Ask = even) -> bool:
    """Serve all requests; return whether there was one."""
    return RequestAnalyst(store, ask=ask).work(threading.Event())


def test_latest_results_are_analysed_once_the_arena_is_idle(sqlite_store: Store) -> None:
    (game,) = Field(sqlite_store).play(1)
    stage = Stage(sqlite_store)
    stage.look()
    assert sqlite_store.analyses.figures([game.id]) == {}, "not idle long enough"
    stage.clock.now += MIN_IDLE_S
    stage.look()
    assert sqlite_store.analyses.figures([game.id])[game.id].nodes == 50


def test_results_are_not_searched_while_a_game_is_in_flight(sqlite_store: Store) -> None:
    game = Field(sqlite_store).play(1)[0]
    asked: list[int] = []

    def ask(record: GameRecord, places: Sequence[PositionRef], nodes: int) -> Evaluations:
        asked.append(len(stage.out))
        return even(record, places, nodes)

    stage = Stage(sqlite_store, ask)
    stage.clock.now += MIN_IDLE_S
    stage.out = [False, True, False]  # a game starts between the check and the first position
    stage.look()
    assert set(asked) == {0}
    assert sqlite_store.analyses.get(game.id) is not None


def test_request_is_analysed_whatever_is_played(sqlite_store: Store) -> None:
    games = Field(sqlite_store).play(2)
    sqlite_store.analyses.ask(None, 70, game_id=games[0].id)
    assert serve(sqlite_store)
    assert sqlite_store.analyses.figures([games[0].id])[games[0].id].nodes == 70
    assert not serve(sqlite_store), "a result without a request is not its work"


def test_persons_take_turns(sqlite_store: Store) -> None:
    """A long request of one person does not delay the first answer to another."""
    games = Field(sqlite_store).play(3)
    ada, eve = sqlite_store.users.add("ada").id, sqlite_store.users.add("eve").id
    seen: list[str] = []

    def ask(record: GameRecord, places: Sequence[PositionRef], nodes: int) -> Evaluations:
        seen.append(record.id)
        if len(seen) == 1:
            sqlite_store.analyses.ask(eve, BATCH_NODES, game_id=games[2].id)
        return even(record, places, nodes)

    for game in games[:2]:
        sqlite_store.analyses.ask(ada, BATCH_NODES, game_id=game.id)
    assert serve(sqlite_store, ask)
    first = len(games[0].moves) + 2  # a preview in some batches, then each position alone
    assert games[2].id in seen[:first]
    assert games[1].id not in seen[: seen.index(games[2].id) + 1]
    assert seen.index(games[1].id) > max(place for place, name in enumerate(seen) if name == games[0].id)
    assert len(sqlite_store.analyses.figures([game.id for game in games])) == 3


def test_request_in_progress_tells_its_share_and_its_curve(sqlite_store: Store) -> None:
    (game,) = Field(sqlite_store).play(1)
    sqlite_store.analyses.ask(None, BATCH_NODES, game_id=game.id)
    told: list[dict[str, Any]] = []

    def ask(record: GameRecord, places: Sequence[PositionRef], nodes: int) -> Evaluations:
        request = sqlite_store.analyses.request_of(game.id)
        assert request is not None
        told.append(request.answer)
        clock.now += 1
        return even(record, places, nodes)

    clock = Clock()
    RequestAnalyst(sqlite_store, ask=ask, clock=clock).work(threading.Event())
    assert told[0] == {}
    shares = [answer["share"] for answer in told if answer]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 1
    assert len(told[-1]["plies"]) == len(game.moves)
    assert 0 < told[-1]["seconds_left"] < 100 * len(game.moves)
    assert sqlite_store.analyses.request_of(game.id) is None


def test_idle_process_for_requests_is_kept_for_a_while(sqlite_store: Store) -> None:
    clock, closed = Clock(), list[float]()
    analyst = RequestAnalyst(sqlite_store, ask=even, clock=clock)
    analyst.process.close = lambda: closed.append(clock.now)  # type: ignore[method-assign]
    analyst.close()
    clock.now += KEPT_S - 1
    analyst.close()
    assert not closed
    clock.now += 1
    analyst.close()
    assert closed == [clock.now]
    stop = threading.Event()
    stop.set()
    RequestAnalyst.work(analyst, stop)
    analyst.close()
    assert len(closed) == 2, "at the order to stop at once"


def test_each_game_restarts_the_idle_time(sqlite_store: Store) -> None:
    Field(sqlite_store).play(1)
    stage = Stage(sqlite_store)
    stage.clock.now += MIN_IDLE_S
    stage.out = [True]
    stage.look()
    stage.look()
    assert sqlite_store.analyses.figures(_ids(sqlite_store)) == {}
    stage.clock.now += MIN_IDLE_S
    stage.look()
    assert len(sqlite_store.analyses.figures(_ids(sqlite_store))) == 1


def _ids(store: Store) -> list[str]:
    return [line.id for line in store.games.latest().items]


def test_the_daily_budget_is_kept(sqlite_store: Store) -> None:
    Field(sqlite_store).play(3)
    stage = Stage(sqlite_store, budget=2)
    stage.clock.now += MIN_IDLE_S
    for _ in range(4):
        stage.look()
    assert len(sqlite_store.analyses.figures(_ids(sqlite_store))) == 2
    off = Stage(sqlite_store, budget=0)
    off.clock.now += MIN_IDLE_S
    assert not off.look()


@pytest.mark.parametrize("error", [JobError("NotAGameError: ply 2"), WorkerLostError("it died")])
def test_a_failed_analysis_is_not_retried(sqlite_store: Store, error: Exception) -> None:
    games = Field(sqlite_store).play(2)
    sqlite_store.analyses.ask(None, 70, game_id=games[0].id)

    def ask(record: GameRecord, places: Sequence[PositionRef], nodes: int) -> Evaluations:
        raise error

    serve(sqlite_store, ask)
    stage = Stage(sqlite_store, ask)
    stage.clock.now += MIN_IDLE_S
    stage.look()
    for game in games:
        request = sqlite_store.analyses.request_of(game.id)
        assert request is not None
        assert request.problem == str(error)
    assert sqlite_store.analyses.next() is None
    assert not stage.look()


@pytest.mark.parametrize("error", [JobError("Stopped: called off"), WorkerLostError("its process was ended")])
def test_a_stopped_analysis_is_repeated_by_the_next_process(sqlite_store: Store, error: Exception) -> None:
    game = Field(sqlite_store).play(1)[0]
    sqlite_store.analyses.ask(None, 70, game_id=game.id)
    stop = threading.Event()

    def ask(record: GameRecord, places: Sequence[PositionRef], nodes: int) -> Evaluations:
        stop.set()
        raise error

    RequestAnalyst(sqlite_store, ask=ask).work(stop)
    assert sqlite_store.analyses.get(game.id) is None
    assert sqlite_store.analyses.next() is not None
    assert serve(sqlite_store)


def test_a_requested_position_is_evaluated_with_more_and_more_nodes(sqlite_store: Store) -> None:
    record = Field(sqlite_store).play(1)[0]
    number = sqlite_store.analyses.ask(None, 7000, question={"record": record.line()})
    seen: list[tuple[int, bool]] = []

    def ask(record: GameRecord, places: Sequence[PositionRef], nodes: int) -> Evaluations:
        request = sqlite_store.analyses.request(number)
        seen.append((request.answer.nodes if request.answer else 0, request.is_done))
        return even(record, places, nodes)

    serve(sqlite_store, ask)
    assert seen == [(0, False), (70, False), (700, False)]
    request = sqlite_store.analyses.request(number)
    assert request.is_done
    assert request.answer is not None
    assert (request.answer.best, request.answer.winning_chances, request.answer.nodes) == ("best", 0.0, 7000)
    broken = sqlite_store.analyses.ask(None, 70, question={"record": "{}"})
    serve(sqlite_store)
    assert "not a game record" in sqlite_store.analyses.request(broken).problem


@pytest.mark.parametrize("evaluate", [evaluate_on_request, evaluate_in_background])
def test_the_engine_runs_in_a_helper_process(
    evaluate: Callable[..., Evaluations], sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in INTERPRETED.items():
        monkeypatch.setenv(name, value)
    record = Field(sqlite_store).play(1)[0]
    process = OffloadProcess()
    answers = ask_in(process, evaluate)(record, [(0, ""), (len(record.moves), "")], 40)
    assert answers.engine == "alphabeta"
    assert len(answers.scored) == 2
    assert answers.scored[0].score is not None
    process.close()
