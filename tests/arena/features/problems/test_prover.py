"""The solver in the background: one problem at a time, and what happens if it fails or is interrupted."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from arena.features.problems.prover import ProblemProver, prove_in_background
from arena.features.problems.store import Problems
from arena.store import Store
from referee.machine.pool import JobError
from referee.solver.mining import ProblemStatement, ProvedProblem
from tests.arena.features.problems.test_store import add


class Scripted:
    """Stands for the process: gives one answer, or fails."""

    def __init__(self, answer: ProvedProblem | str | Exception) -> None:
        self.answer = answer
        self.claims: list[ProblemStatement] = []

    def call(self, function: Any, claim: ProblemStatement) -> ProvedProblem | str:
        assert function is prove_in_background
        self.claims.append(claim)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def prover(store: Store, answer: ProvedProblem | str | Exception) -> ProblemProver:
    found = ProblemProver(store)
    found.process = Scripted(answer)  # type: ignore[assignment]
    return found


PROVED = ProvedProblem(2, True, False, 1, "hard", {"a": {}})


def test_waiting_problems_are_examined_oldest_first(sqlite_store: Store) -> None:
    first, second = add(sqlite_store, "one"), add(sqlite_store, "two", max_moves=3)
    worker = prover(sqlite_store, PROVED)
    assert worker.work(threading.Event())
    assert Problems(sqlite_store.sessions).get(second).state == "waiting"
    assert worker.work(threading.Event())
    assert not worker.work(threading.Event())
    assert {Problems(sqlite_store.sessions).get(number).state for number in (first, second)} == {"accepted"}
    assert Problems(sqlite_store.sessions).get(first).rating == 30.0
    assert [claim.max_moves for claim in worker.process.claims] == [5, 3]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [("there is no win in 5", "there is no win in 5"), (JobError("out of memory"), "the solver failed: out of memory")],
)
def test_a_problem_that_is_not_proved_is_refused(sqlite_store: Store, answer: str | Exception, problem: str) -> None:
    number = add(sqlite_store)
    assert prover(sqlite_store, answer).work(threading.Event())
    found = Problems(sqlite_store.sessions).get(number)
    assert (found.state, found.problem) == ("refused", problem)


def test_an_interrupted_proof_is_repeated_later(sqlite_store: Store) -> None:
    number, stop = add(sqlite_store), threading.Event()
    stop.set()
    assert not prover(sqlite_store, JobError("cancelled")).work(stop)
    assert Problems(sqlite_store.sessions).get(number).state == "waiting"
