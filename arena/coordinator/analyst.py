"""Has games analysed while there is nothing else to do: what somebody asked for, then the latest results.

In a thread of its own; the judge is in a process that gets what processor time others leave. No position is begun
while a game is out, so that no rated game waits. What was at work when the coordinator is killed is done again, from
its beginning. Refuses to know what an analysis says.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from arena.analysis.budget import MOST_PLIES
from arena.analysis.judge import Answers, Spot, ask_aside
from arena.analysis.keeping import curve_of, keep, read_game
from arena.analysis.work import analyse, ask_position
from arena.log import logger
from arena.store import NotFoundError, Store
from arena.store.analyses import AnalysisTask, today
from referee.pool import JobError, SlotPool, WorkerLostError
from referee.record import GameRecord, RecordError, read_record

CALM_S = 60.0
"""So long no game must have been out before one is analysed that nobody asked about."""
PORTION = 8
"""Positions a job: how long an analysis goes on at most once a game is out."""
LOOK_S = 0.25
"""How often it is looked whether games are still out."""

AskAside = Callable[[GameRecord, Sequence[Spot], int], Answers]


class Interrupted(Exception):  # noqa: N818 - nobody erred
    """The order to stop came: what was being done is done another time."""


class Analyst:
    """`begin` starts what is next, unless something is being done or games are out, and returns at once.

    `is_busy` says that games are out, `fenced` makes that only the owner of the lease writes. A day has `budget` games
    with `nodes` a position that nobody asked about. `ask` asks the judge (None: in a process of its own).
    """

    def __init__(
        self,
        store: Store,
        fenced: Callable[[], AbstractContextManager[None]],
        is_busy: Callable[[], bool],
        *,
        budget: int,
        nodes: int,
        clock: Callable[[], float] = time.monotonic,
        ask: AskAside | None = None,
    ) -> None:
        self._store, self._fenced, self._is_busy, self._clock = store, fenced, is_busy, clock
        self._budget, self._nodes = budget, nodes
        self._ask = ask or self._ask_aside
        self._calm_since = clock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._pool: SlotPool | None = None
        self._log = logger("analysis")

    def begin(self) -> None:
        """Analyse in a thread what waits, if there is time for it."""
        if self._is_busy():
            self._calm_since = self._clock()
            return
        if self._stop.is_set() or (self._thread and self._thread.is_alive()):
            return
        task = self._next()
        if task is None:
            self._close()
            return
        self._thread = threading.Thread(target=self._do, args=(task,), name="analysis", daemon=True)
        self._thread.start()

    def stop(self, seconds: float = 10.0) -> None:
        """End soon."""
        self._stop.set()
        self._close()
        if self._thread is not None:
            self._thread.join(seconds)

    def _next(self) -> AnalysisTask | None:
        task = self._store.analyses.next()
        if task is not None or self._budget <= 0 or self._clock() - self._calm_since < CALM_S:
            return task
        return self._store.analyses.next_unasked(self._nodes, today(), self._budget)

    def _do(self, task: AnalysisTask) -> None:
        problem = ""
        try:
            self._finish(task)
        except Interrupted:
            return
        except (JobError, NotFoundError, RecordError, KeyError) as error:  # it would come to the same every time
            problem = str(error)
        except WorkerLostError as error:
            problem = "" if self._stop.is_set() else str(error)
        except Exception as error:  # the outermost loop of this thread: the next look tries again
            if not self._stop.is_set():
                self._log.error("not analysed", game=task.game_id, error=f"{type(error).__name__}: {error}")
            self._stop.wait(CALM_S)
        if problem:
            self._log.warning("not analysed", game=task.game_id, problem=problem)
            with self._fenced():
                self._store.analyses.fail(task, problem)

    def _finish(self, task: AnalysisTask) -> None:
        if task.game_id is None:
            record = read_record(str(task.question["record"]))
        else:
            record = read_game(self._store, task.game_id)
        curve = curve_of(self._store, record.family)

        def ask(spots: Sequence[Spot], nodes: int) -> Answers:
            return self._ask_calmly(record, spots, nodes)

        if task.game_id is None:
            assert task.request is not None
            answer = ask_position(record, ask, nodes=task.nodes, curve=curve)
            with self._fenced():
                self._store.analyses.answer(task.request, answer)
            return
        found = analyse(record, ask, nodes=task.nodes, curve=curve)
        with self._fenced():
            keep(self._store, found)
        self._log.info("analysed", game=record.id, nodes=task.nodes, gaffes=sum(found.summary.gaffes))

    def _ask_calmly(self, record: GameRecord, spots: Sequence[Spot], nodes: int) -> Answers:
        """Ask portion by portion, each when no game is out."""
        judge, scored = "", []
        for start in range(0, len(spots), PORTION):
            while self._is_busy() and not self._stop.wait(LOOK_S):
                self._calm_since = self._clock()
            if self._stop.is_set():
                raise Interrupted
            answers = self._ask(record, list(spots[start : start + PORTION]), nodes)
            judge = answers.judge
            scored += answers.scored
        return Answers(judge, scored)

    def _ask_aside(self, record: GameRecord, spots: Sequence[Spot], nodes: int) -> Answers:
        if self._pool is None:
            self._pool = SlotPool(1)
        return self._pool.submit(ask_aside, record.line().encode(), spots, nodes, MOST_PLIES).result()

    def _close(self) -> None:
        """End the process, whatever it is at."""
        if self._pool is not None:
            self._pool.abort()
            self._pool.shutdown()
            self._pool = None
