"""Proves the problems that people have added, one after another, in a low-priority process."""

from __future__ import annotations

import threading

from arena.documents.attributes import of_attributes
from arena.log import logger
from arena.offload import OffloadProcess, yield_to_games
from arena.store import Store
from arena.store.problems.attempts import START_MU
from arena.store.problems.problems import Proof
from referee.machine.pool import JobError, WorkerLostError
from referee.solver.proving import ProblemStatement, ProvedProblem, prove


class ProblemProver:
    """Proves the oldest waiting problem, and stores its solution or the reason why it is refused."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.process = OffloadProcess()
        self._log = logger("problems")

    def work(self, stop: threading.Event) -> bool:
        """Examine the next waiting problem; return whether there was one."""
        problem = self._store.problems.next_waiting()
        if problem is None:
            return False
        claim = of_attributes(ProblemStatement, problem)
        try:
            found = self.process.call(prove_in_background, claim)
        except (JobError, WorkerLostError) as error:
            if stop.is_set():
                return False  # interrupted: the next coordinator examines it
            found = f"the solver failed: {error}"
        if isinstance(found, str):
            self._store.problems.refuse(problem.id, found)
        else:
            start = START_MU[found.level]
            proof = Proof(found.moves, found.is_unique, found.is_quiet, found.tries, found.level, found.tree, start)
            self._store.problems.accept(problem.id, proof)
        self._log.info("examined", problem=problem.id, result="refused" if isinstance(found, str) else "accepted")
        return True


def prove_in_background(claim: ProblemStatement) -> ProvedProblem | str:
    """Prove a problem at the lowest CPU priority; return the reason if it is not proved."""
    yield_to_games()
    try:
        return prove(claim)
    except ValueError as error:
        return str(error)
