"""Analyses games and positions: at once what people request, and the latest results while the arena is idle.

Each kind has an engine in a process of its own. What people request is searched also while games are in flight, at a
priority that gives it a share of the processor. An interrupted analysis starts again from its beginning.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from arena.analysis.engine import Evaluations, PositionRef
from arena.analysis.engine_jobs import evaluate_in_background, evaluate_on_request
from arena.analysis.game_analysis import MAX_PLIES, AnalysisStep, analyse, analysis_steps, evaluate_position
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
POLL_INTERVAL_S = 0.25
"""How often an analysis checks whether games are still in flight."""
KEPT_S = 900.0
"""How long the process for requests is kept after the last one: its start takes seconds on a busy machine."""
PREVIEW_FACTORS = (0.01, 0.1)
"""Shares of the nodes with which a position is evaluated before the whole search, so that an answer comes at once."""

AskAside = Callable[[GameRecord, Sequence[PositionRef], int], Evaluations]
FAILURES = (JobError, WorkerLostError, NotFoundError, RecordError, KeyError)
"""What an analysis fails with; it would fail the same way every time."""


class AnalysisInterrupted(Exception):  # noqa: N818 - not an error
    """The order to stop arrived; the analysis is repeated later."""


def ask_in(process: OffloadProcess, evaluate: Callable[..., Evaluations]) -> AskAside:
    """Return a function that evaluates positions in a helper process by a job of `arena.analysis.engine`."""

    def ask(record: GameRecord, spots: Sequence[PositionRef], nodes: int) -> Evaluations:
        return process.call(evaluate, record.line().encode(), spots, nodes, MAX_PLIES)

    return ask


@dataclass(slots=True)
class _Request:
    """A request in progress: what is left to do, and when it began."""

    steps: Iterator[AnalysisStep | Mapping[str, Any]]
    began: float


class RequestAnalyst:
    """Analyses what people request: one batch of positions for each person in turn, so that none waits for another.

    `ask` calls the engine (None: the engine runs in a helper process).
    """

    def __init__(
        self, store: Store, *, clock: Callable[[], float] = time.monotonic, ask: AskAside | None = None
    ) -> None:
        self._store, self._clock = store, clock
        self.process = OffloadProcess()
        self._ask = ask or ask_in(self.process, evaluate_on_request)
        self._requests: dict[int, _Request] = {}
        self._served = -1
        """The user who was served last."""
        self._used = clock()
        self._is_stopping = False
        self._log = logger("analysis")

    @property
    def is_working(self) -> bool:
        """True while a request is in progress. Thread-safe."""
        return bool(self._requests)

    def work(self, stop: threading.Event) -> bool:
        """Serve requests while there are any; return whether there was one."""
        has_worked = False
        try:
            while not stop.is_set() and (task := self._store.analyses.next(self._served)) is not None:
                has_worked = True
                self._serve(task, stop)
        finally:
            self._requests.clear()
            self._is_stopping = stop.is_set()
        if has_worked:
            self._used = self._clock()
        return has_worked

    def close(self) -> None:
        """End the process, unless it was used lately and may be needed soon."""
        if self._is_stopping or self._clock() - self._used >= KEPT_S:
            self.process.close()

    def _serve(self, task: AnalysisTask, stop: threading.Event) -> None:
        """Do the next step of a request, and store what is known then."""
        assert task.request is not None
        self._served, analyses = task.user, self._store.analyses
        try:
            request = self._requests.get(task.request)
            if request is None:
                request = self._requests[task.request] = _Request(self._begin(task), self._clock())
            match next(request.steps):
                case AnalysisStep(analysis=None) as step:
                    left_s = (self._clock() - request.began) * (1 - step.share) / (step.share or 1)
                    plies = [asdict(ply) for ply in step.plies]
                    known = {"share": round(step.share, 3), "seconds_left": round(left_s), "plies": plies}
                    analyses.answer(task.request, known, is_done=False)
                case AnalysisStep(analysis=analysis):
                    assert analysis is not None
                    save(self._store, analysis)
                    del self._requests[task.request]
                    seconds = round(self._clock() - request.began, 1)
                    self._log.info("analysed", game=task.game_id, nodes=task.nodes, seconds=seconds)
                case answer:
                    is_done = answer["nodes"] == task.nodes
                    analyses.answer(task.request, answer, is_done=is_done)
                    if is_done:
                        del self._requests[task.request]
        except FAILURES as error:
            self._requests.pop(task.request, None)
            if not stop.is_set():
                self._log.warning("analysis failed", game=task.game_id, problem=str(error))
                analyses.fail(task, str(error))

    def _begin(self, task: AnalysisTask) -> Iterator[AnalysisStep | Mapping[str, Any]]:
        is_position = task.game_id is None
        record = read_record(str(task.question["record"])) if is_position else read_game(self._store, str(task.game_id))
        win_model = win_model_of(self._store, record.family)

        def ask(spots: Sequence[PositionRef], nodes: int) -> Evaluations:
            return self._ask(record, spots, nodes)

        if is_position:
            budgets = sorted({*(max(1, round(task.nodes * factor)) for factor in PREVIEW_FACTORS), task.nodes})
            return (evaluate_position(record, ask, nodes=nodes, win_model=win_model) for nodes in budgets)
        return analysis_steps(record, ask, nodes=task.nodes, win_model=win_model, has_preview=True)


class Analyst:
    """Analyses the latest results one after another while `is_busy()` is false.

    Each day, up to `budget` games are analysed, with `nodes` nodes for each position. `ask` calls the engine (None: the
    engine runs in a helper process).
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
        self.process = OffloadProcess()
        self._ask = ask or ask_in(self.process, evaluate_in_background)
        self._idle_since = clock()
        self._log = logger("analysis")

    def work(self, stop: threading.Event) -> bool:
        """Analyse the next game if the arena is idle; return whether there was one."""
        if self._is_busy():
            self._idle_since = self._clock()
            return False
        if self._budget <= 0 or self._clock() - self._idle_since < MIN_IDLE_S:
            return False
        task = self._store.analyses.next_unasked(self._nodes, today(), self._budget)
        if task is None:
            return False
        try:
            self._finish(str(task.game_id), stop)
        except AnalysisInterrupted:
            pass
        except FAILURES as error:
            if not stop.is_set():
                self._log.warning("analysis failed", game=task.game_id, problem=str(error))
                self._store.analyses.fail(task, str(error))
        return True

    def _finish(self, game_id: str, stop: threading.Event) -> None:
        record = read_game(self._store, game_id)

        def ask(spots: Sequence[PositionRef], nodes: int) -> Evaluations:
            """Evaluate positions as soon as no game is in flight."""
            while self._is_busy() and not stop.wait(POLL_INTERVAL_S):
                self._idle_since = self._clock()
            if stop.is_set():
                raise AnalysisInterrupted
            return self._ask(record, spots, nodes)

        analysis = analyse(record, ask, nodes=self._nodes, win_model=win_model_of(self._store, record.family))
        save(self._store, analysis)
        blunders = analysis.blunders.first + analysis.blunders.second
        self._log.info("analysed", game=record.id, nodes=self._nodes, blunders=blunders)
