"""Analysis while the arena is idle: requested games first, others within a budget."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from arena.analysis.engine import Evaluations, PositionRef
from arena.analysis.marking import EvaluatedPosition
from arena.clock import now
from arena.coordinator import analyst as module
from arena.coordinator.analyst import MIN_IDLE_S, Analyst
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


def test_requested_analyses_run_first_and_at_once(sqlite_store: Store) -> None:
    games = Field(sqlite_store).play(2)
    stage = Stage(sqlite_store)
    stage.look()
    assert sqlite_store.analyses.figures([game.id for game in games]) == {}, "no request, and not idle long enough"
    sqlite_store.analyses.ask(None, 70, game_id=games[0].id)
    stage.look()
    assert sqlite_store.analyses.figures([games[0].id])[games[0].id].nodes == 70
    stage.clock.now += MIN_IDLE_S
    stage.look()
    assert sqlite_store.analyses.figures([games[1].id])[games[1].id].nodes == 50


def test_no_analysis_starts_while_a_game_is_in_flight(sqlite_store: Store) -> None:
    game = Field(sqlite_store).play(1)[0]
    sqlite_store.analyses.ask(None, 70, game_id=game.id)
    asked: list[int] = []

    def ask(record: GameRecord, places: Sequence[PositionRef], nodes: int) -> Evaluations:
        asked.append(len(stage.out))
        return even(record, places, nodes)

    stage = Stage(sqlite_store, ask)
    stage.out = [True]
    stage.look()
    assert not asked
    stage.out = [False, True, False]  # a game starts between the check and the first position
    stage.look()
    assert set(asked) == {0}
    assert sqlite_store.analyses.get(game.id) is not None


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
    game = Field(sqlite_store).play(1)[0]
    sqlite_store.analyses.ask(None, 70, game_id=game.id)

    def ask(record: GameRecord, places: Sequence[PositionRef], nodes: int) -> Evaluations:
        raise error

    stage = Stage(sqlite_store, ask)
    stage.look()
    request = sqlite_store.analyses.request_of(game.id)
    assert request is not None
    assert request.problem == str(error)
    assert sqlite_store.analyses.next() is None


@pytest.mark.parametrize("error", [JobError("Stopped: called off"), WorkerLostError("its process was ended")])
def test_a_stopped_analysis_is_repeated_by_the_next_process(sqlite_store: Store, error: Exception) -> None:
    game = Field(sqlite_store).play(1)[0]
    sqlite_store.analyses.ask(None, 70, game_id=game.id)

    def ask(record: GameRecord, places: Sequence[PositionRef], nodes: int) -> Evaluations:
        stage.stop.set()
        raise error

    stage = Stage(sqlite_store, ask)
    stage.look()
    assert sqlite_store.analyses.get(game.id) is None
    assert sqlite_store.analyses.next() is not None


def test_a_requested_position_is_evaluated(sqlite_store: Store) -> None:
    record = Field(sqlite_store).play(1)[0]
    number = sqlite_store.analyses.ask(None, 70, question={"record": record.line()})
    Stage(sqlite_store).look()
    request = sqlite_store.analyses.request(number)
    assert request.is_done
    assert request.answer is not None
    assert (request.answer.best, request.answer.winning_chances, request.answer.nodes) == ("best", 0.0, 70)
    broken = sqlite_store.analyses.ask(None, 70, question={"record": "{}"})
    Stage(sqlite_store).look()
    assert "not a game record" in sqlite_store.analyses.request(broken).problem


def test_the_engine_runs_in_a_helper_process(sqlite_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in INTERPRETED.items():
        monkeypatch.setenv(name, value)
    record = Field(sqlite_store).play(1)[0]
    stage = Stage(sqlite_store)
    answers = stage.analyst._ask_in_process(record, [(0, ""), (len(record.moves), "")], 40)
    assert answers.engine == "alphabeta"
    assert len(answers.scored) == 2
    assert answers.scored[0].score is not None
    stage.analyst.process.close()
