"""Proves the problems that people have added, one after another, in a low-priority process."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from arena.clock import now
from arena.coordinator.background import Background, Conditions
from arena.coordinator.context import CoordinatorContext
from arena.coordinator.coordinator import TICK_INTERVAL_S
from arena.coordinator.maintenance import Task
from arena.features.problems.attempts import START_MU
from arena.features.problems.store import Problems, Proof
from arena.log import logger
from arena.offload import OffloadProcess, yield_to_games
from arena.store import Store
from referee.machine.pool import JobError, WorkerLostError
from referee.solver.mining import ProblemStatement, ProvedProblem, prove


class ProblemProver:
    """Proves the oldest waiting problem, and stores its solution or the reason why it is refused."""

    def __init__(self, store: Store) -> None:
        self._problems = Problems(store.sessions)
        self.process = OffloadProcess()
        self._log = logger("problems")

    def work(self, stop: threading.Event) -> bool:
        """Examine the next waiting problem; return whether there was one."""
        problem = self._problems.next_waiting()
        if problem is None:
            return False
        claim = ProblemStatement(
            family=problem.family,
            variant=problem.variant,
            options=problem.options,
            position=problem.position,
            max_moves=problem.max_moves,
            condition=problem.condition,
        )
        try:
            answer = self.process.call(prove_in_background, claim)
        except (JobError, WorkerLostError) as error:
            if stop.is_set():
                return False  # interrupted: the next coordinator examines it
            answer = f"the solver failed: {error}"
        if isinstance(answer, str):
            self._problems.refuse(problem.id, answer)
        else:
            start = START_MU[answer.level]
            proof = Proof(
                answer.moves, answer.is_unique, answer.is_quiet, answer.tries, answer.level, answer.tree, start
            )
            self._problems.accept(problem.id, proof)
        self._log.info("examined", problem=problem.id, result="refused" if isinstance(answer, str) else "accepted")
        return True


def prove_in_background(claim: ProblemStatement) -> ProvedProblem | str:
    """Prove a problem at the lowest CPU priority; return the reason if it is not proved."""
    yield_to_games()
    try:
        return prove(claim)
    except ValueError as error:
        return str(error)


def background(context: CoordinatorContext, conditions: Conditions) -> Iterator[Background]:
    """Yield the work of the coordinator that proves problems."""
    prover = ProblemProver(context.store)
    process = prover.process
    yield Background(
        "problems", TICK_INTERVAL_S, prover.work, conditions, interrupt=process.interrupt, close=process.close
    )


def tasks(store: Store) -> Iterator[Task]:
    """Yield the daily task that chooses a problem of the month, unless an organiser has chosen one."""
    problems = Problems(store.sessions)
    yield Task("problem of the month", 0, lambda _: int(problems.choose_any(f"{now():%Y-%m}") is not None))
