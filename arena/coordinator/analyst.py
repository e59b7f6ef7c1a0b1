"""Has games analysed while there is nothing else to do: what somebody asked for, then the latest results.

The engine is in a process that gets what processor time others leave. No position is begun
while a game is out, so that no rated game waits. What was at work when the coordinator is killed is done again, from
its beginning. Refuses to know what an analysis says.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from arena.analysis.budget import MAX_PLIES
from arena.analysis.engine import Evaluations, PositionRef, evaluate_in_background
from arena.analysis.game_analysis import analyse, evaluate_position
from arena.analysis.storage import read_game, save, win_model_of
from arena.helper_process import HelperProcess
from arena.log import logger
from arena.store import NotFoundError, Store
from arena.store.analyses import AnalysisTask, today
from referee.pool import JobError, WorkerLostError
from referee.record import GameRecord, RecordError, read_record

CALM_S = 60.0
"""So long no game must have been out before one is analysed that nobody asked about."""
PORTION = 8
"""Positions a job: how long an analysis goes on at most once a game is out."""
LOOK_S = 0.25
"""How often it is looked whether games are still out."""

AskAside = Callable[[GameRecord, Sequence[PositionRef], int], Evaluations]


class Interrupted(Exception):  # noqa: N818 - nobody erred
    """The order to stop came: what was being done is done another time."""


class Analyst:
    """Analyses one game after another while `is_busy` says that none is out.

    A day has `budget` games with `nodes` a position that nobody asked about. `ask` asks the engine (None: in a process
    of its own).
    """

    def __init__(
        self,
        store: Store,
        is_busy: Callable[[], bool],
        *,
        budget: int,
        nodes: int,
        clock: Callable[[], float] = time.monotonic,
        ask: AskAside | None = None,
    ) -> None:
        self._store, self._is_busy, self._clock = store, is_busy, clock
        self._budget, self._nodes = budget, nodes
        self._ask = ask or self._ask_aside
        self._calm_since = clock()
        self.process = HelperProcess()
        self._log = logger("analysis")

    def work(self, stop: threading.Event) -> bool:
        """Analyse what is next, if there is time for it; whether there was anything."""
        if self._is_busy():
            self._calm_since = self._clock()
            return False
        task = self._next()
        if task is None:
            return False
        try:
            self._finish(task, stop)
        except Interrupted:
            pass
        except (JobError, WorkerLostError, NotFoundError, RecordError, KeyError) as error:
            if not stop.is_set():  # it would come to the same every time
                self._log.warning("not analysed", game=task.game_id, problem=str(error))
                self._store.analyses.fail(task, str(error))
        return True

    def _next(self) -> AnalysisTask | None:
        task = self._store.analyses.next()
        if task is not None or self._budget <= 0 or self._clock() - self._calm_since < CALM_S:
            return task
        return self._store.analyses.next_unasked(self._nodes, today(), self._budget)

    def _finish(self, task: AnalysisTask, stop: threading.Event) -> None:
        if task.game_id is None:
            record = read_record(str(task.question["record"]))
        else:
            record = read_game(self._store, task.game_id)
        win_model = win_model_of(self._store, record.family)

        def ask(spots: Sequence[PositionRef], nodes: int) -> Evaluations:
            return self._ask_calmly(record, spots, nodes, stop)

        if task.game_id is None:
            assert task.request is not None
            answer = evaluate_position(record, ask, nodes=task.nodes, win_model=win_model)
            self._store.analyses.answer(task.request, answer)
            return
        found = analyse(record, ask, nodes=task.nodes, win_model=win_model)
        save(self._store, found)
        self._log.info("analysed", game=record.id, nodes=task.nodes, blunders=sum(found.summary.blunders))

    def _ask_calmly(
        self, record: GameRecord, spots: Sequence[PositionRef], nodes: int, stop: threading.Event
    ) -> Evaluations:
        """Ask portion by portion, each when no game is out."""
        engine, scored = "", []
        for start in range(0, len(spots), PORTION):
            while self._is_busy() and not stop.wait(LOOK_S):
                self._calm_since = self._clock()
            if stop.is_set():
                raise Interrupted
            answers = self._ask(record, list(spots[start : start + PORTION]), nodes)
            engine = answers.engine
            scored += answers.scored
        return Evaluations(engine, scored)

    def _ask_aside(self, record: GameRecord, spots: Sequence[PositionRef], nodes: int) -> Evaluations:
        return self.process.ask(evaluate_in_background, record.line().encode(), spots, nodes, MAX_PLIES)
