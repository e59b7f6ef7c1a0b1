"""Looks at what the workers of a cluster bring: a share of their records is verified before it becomes a result.

A worker with a wrong one is shut out: what it brings from then on is void, and what it had brought is verified anew,
voided where it is wrong; the audit log says whether that is done, so that the next coordinator goes on with it. One on
which bots are slower than elsewhere is shut out too, and what it had brought stays. Refuses to know how games are
handed out and recorded.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Container, Sequence
from concurrent.futures import Executor
from dataclasses import replace

from arena.coordinator.throttle import ThrottleWatch, speeds_of
from arena.events.bus import EventBus
from arena.events.messages import GameGone
from arena.helper_process import HelperProcess
from arena.log import logger
from arena.metrics import RefereeMetrics
from arena.store import Store
from arena.store.audit import QUARANTINED, THROTTLED, VERIFIED
from referee.pool import JobError, WorkerLostError
from referee.record import GameRecord
from referee.rules.core import Kind, Termination
from referee.spec import GameSpec, PlannedGame
from referee.unplayed import void_record
from referee.verification import problem_of

PORTION = 200
"""So many games of a worker that was shut out are verified in one turn."""


class Verifier:
    """Verifies records in a process: the rules' kernels would hold up a server."""

    def __init__(self) -> None:
        self._process = HelperProcess()
        self.close = self._process.close
        self._log = logger("coordinator")

    def problem(self, line: str | bytes, spec: GameSpec, game_id: str) -> str:
        """What is wrong with a record; empty also where that cannot be found out here."""
        try:
            return self._process.ask(problem_of, line, spec, game_id)
        except (JobError, WorkerLostError) as error:
            self._log.error("not verified", game=game_id, error=str(error))
            return ""


class Inspection:
    """`share` (0 to 1) of the records of each worker is verified, its first one always. All in one thread.

    Bots may be slower on a worker than elsewhere by the share `tolerance`; 0: by whatever.
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        executor: Executor,
        *,
        share: float,
        tolerance: float,
        owner: str,
        metrics: RefereeMetrics,
        verifier: Verifier | None = None,
    ) -> None:
        self._store, self._bus, self._executor = store, bus, executor
        self._share, self._owner, self._metrics = share, owner, metrics
        self._verifier = verifier or Verifier()
        self._throttle = ThrottleWatch(tolerance) if tolerance else None
        self._known: set[str] = set()
        """Workers of which a record was verified."""
        self._shut_out: dict[str, str] = {}
        """Workers with a wrong record, and what was wrong; throttled ones, and how slow they are."""
        self._suspects: deque[tuple[str, int]] = deque()
        """Workers whose earlier results are still to be verified, and behind which commit."""
        self._unnoted: list[tuple[str, str]] = []
        """What the audit log does not know yet: `QUARANTINED` or `THROTTLED`, and the worker."""
        self._log = logger("coordinator")

    def passed(self, worker: str, games: Sequence[PlannedGame], records: Sequence[GameRecord]) -> list[GameRecord]:
        """The records of a job as they may be recorded: void where nothing from that worker is believed."""
        planned = {game.id: game for game in games}
        found = []
        for record in records:
            game = planned.get(record.id)
            if game is None:
                self._log.error("record refused", game=record.id, worker=worker, error="it was not asked for")
                continue
            if worker not in self._shut_out and record.kind is not Kind.VOID and self._is_chosen(worker):
                self._verify(worker, game, record)
            if (why := self._shut_out.get(worker)) and record.termination is not Termination.STOPPED:
                record = void_record(game, Termination.WORKER_WRONG, f"its worker was shut out: {why}")
            elif record.kind is not Kind.VOID:
                self._time(worker, game, record)
            found.append(replace(record, worker=worker))
        return found

    def resume(self) -> None:
        """Shut out whom others have shut out without seeing to the end of it. Raises StoreUnavailableError."""
        for line in self._store.audit.unfinished(QUARANTINED, VERIFIED):
            worker = str(line.detail["worker"])
            if worker not in self._shut_out:
                self._suspect(worker, str(line.detail["problem"]))

    def go_on(self) -> set[int]:
        """Verify some of what workers that were shut out had brought; the tournaments with games to be played again.

        Raises StoreUnavailableError; nothing is forgotten then.
        """
        while self._unnoted:
            self._note(*self._unnoted[-1])
            self._unnoted.pop()
        if not self._suspects:
            return set()
        worker, after = self._suspects[0]
        wrong: dict[str, str] = {}
        count, last = 0, after
        for number, game_id, line, spec in self._store.results.with_plans(worker=worker, after=after):
            last, count = number, count + 1
            if problem := self._verifier.problem(line, spec, game_id):
                wrong[game_id] = problem
            if count >= PORTION:
                break
        undone = self._store.results.undo(wrong, self._owner)
        if count < PORTION:
            self._note(VERIFIED, worker)
        self._suspects.popleft()
        if count >= PORTION:
            self._suspects.append((worker, last))
        else:
            self._log.info("worker's games verified", worker=worker)
        for game_id in undone:
            self._metrics.voids.labels(Termination.WORKER_WRONG.value).inc()
            self._log.warning("result void", game=game_id, worker=worker, problem=wrong[game_id])
            self._bus.publish(GameGone(game=game_id))
        return {self._store.games.get(game_id).tournament_id for game_id in undone}

    def close(self) -> None:
        """End the process that verifies."""
        self._verifier.close()

    def _is_chosen(self, worker: str) -> bool:
        if worker in self._known:
            return random.random() < self._share
        self._known.add(worker)
        return self._share > 0

    def _verify(self, worker: str, game: PlannedGame, record: GameRecord) -> None:
        problem = self._verifier.problem(record.line(), game.spec, game.id)
        self._metrics.verified.labels("wrong" if problem else "right").inc()
        if not problem:
            return
        self._log.error("worker shut out", worker=worker, game=game.id, problem=problem)
        self._suspect(worker, problem)
        self._unnoted.append((QUARANTINED, worker))

    def _time(self, worker: str, game: PlannedGame, record: GameRecord) -> None:
        """Whether bots are slower there. What shows it is a result all the same: both bots were."""
        if self._throttle is None:
            return
        present = self._present()
        if worker not in present:  # it has left, or nobody has owned up to the game
            return
        if problem := self._throttle.add(worker, list(speeds_of(game.spec, record)), present):
            self._log.error("worker shut out", worker=worker, game=game.id, problem=problem)
            self._shut(worker, problem)
            self._unnoted.append((THROTTLED, worker))

    def _present(self) -> Container[str]:
        """The workers that get games now: who has left is nobody's measure, or the last ones could be shut out."""
        workers = self._executor.describe().workers if hasattr(self._executor, "describe") else ()
        return {one.id for one in workers if one.is_fit} - self._shut_out.keys()

    def _suspect(self, worker: str, problem: str) -> None:
        """Shut a worker out, and have what it had brought verified."""
        self._shut(worker, problem)
        self._suspects.append((worker, 0))

    def _shut(self, worker: str, problem: str) -> None:
        self._shut_out[worker] = problem
        if hasattr(self._executor, "shut_out"):
            self._executor.shut_out(worker, problem)

    def _note(self, action: str, worker: str) -> None:
        self._store.audit.note(action, f"worker:{worker}", worker=worker, problem=self._shut_out[worker])
