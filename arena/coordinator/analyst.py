"""Analyses games while the arena is idle: first requested ones, then the latest results.

The engine is in a low-priority process. No search is started while a game is in flight, so that no rated game waits.
An interrupted analysis starts again from its beginning.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from arena.analysis.engine import Evaluations, PositionRef, evaluate_in_background
from arena.analysis.game_analysis import MAX_PLIES, analyse, evaluate_position
from arena.analysis.storage import read_game, save, win_model_of
from arena.errors import NotFoundError
from arena.log import logger
from arena.offload import OffloadProcess
from arena.store import Store
from arena.store.games.analyses import AnalysisTask, today
from referee.game.record import GameRecord, RecordError, read_record
from referee.machine.pool import JobError, WorkerLostError

MIN_IDLE_S = 60.0
"""Idle time before a game is analysed without a request."""
BATCH_POSITIONS = 8
"""Positions that are evaluated together: limits how long an analysis continues once a game is in flight."""
POLL_INTERVAL_S = 0.25
"""How often an analysis checks whether games are still in flight."""

AskAside = Callable[[GameRecord, Sequence[PositionRef], int], Evaluations]


class AnalysisInterrupted(Exception):  # noqa: N818 - not an error
    """The order to stop arrived; the analysis is repeated later."""


class Analyst:
    """Analyses one game after another while `is_busy()` is false.

    Each day, up to `budget` games without a request are analysed, with `nodes` nodes for each position. `ask` calls
    the engine (None: the engine runs in a helper process).
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
        self._ask = ask or self._ask_in_process
        self._idle_since = clock()
        self.process = OffloadProcess()
        self._log = logger("analysis")

    def work(self, stop: threading.Event) -> bool:
        """Analyse the next game if the arena is idle; return whether there was one."""
        if self._is_busy():
            self._idle_since = self._clock()
            return False
        task = self._next()
        if task is None:
            return False
        try:
            self._finish(task, stop)
        except AnalysisInterrupted:
            pass
        except (JobError, WorkerLostError, NotFoundError, RecordError, KeyError) as error:
            if not stop.is_set():  # it would fail the same way every time
                self._log.warning("analysis failed", game=task.game_id, problem=str(error))
                self._store.analyses.fail(task, str(error))
        return True

    def _next(self) -> AnalysisTask | None:
        task = self._store.analyses.next()
        if task is not None or self._budget <= 0 or self._clock() - self._idle_since < MIN_IDLE_S:
            return task
        return self._store.analyses.next_unasked(self._nodes, today(), self._budget)

    def _finish(self, task: AnalysisTask, stop: threading.Event) -> None:
        if task.game_id is None:
            record = read_record(str(task.question["record"]))
        else:
            record = read_game(self._store, task.game_id)
        win_model = win_model_of(self._store, record.family)

        def ask(spots: Sequence[PositionRef], nodes: int) -> Evaluations:
            return self._ask_when_idle(record, spots, nodes, stop)

        if task.game_id is None:
            assert task.request is not None
            answer = evaluate_position(record, ask, nodes=task.nodes, win_model=win_model)
            self._store.analyses.answer(task.request, answer)
            return
        analysis = analyse(record, ask, nodes=task.nodes, win_model=win_model)
        save(self._store, analysis)
        blunders = analysis.blunders.first + analysis.blunders.second
        self._log.info("analysed", game=record.id, nodes=task.nodes, blunders=blunders)

    def _ask_when_idle(
        self, record: GameRecord, spots: Sequence[PositionRef], nodes: int, stop: threading.Event
    ) -> Evaluations:
        """Evaluate positions batch by batch, each while no game is in flight."""
        engine, scored = "", []
        for start in range(0, len(spots), BATCH_POSITIONS):
            while self._is_busy() and not stop.wait(POLL_INTERVAL_S):
                self._idle_since = self._clock()
            if stop.is_set():
                raise AnalysisInterrupted
            answers = self._ask(record, list(spots[start : start + BATCH_POSITIONS]), nodes)
            engine = answers.engine
            scored += answers.scored
        return Evaluations(engine, scored)

    def _ask_in_process(self, record: GameRecord, spots: Sequence[PositionRef], nodes: int) -> Evaluations:
        return self.process.call(evaluate_in_background, record.line().encode(), spots, nodes, MAX_PLIES)
