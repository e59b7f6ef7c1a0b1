"""Problems as use cases: set, prove, solve against the best defence, hints, solutions."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from arena.errors import BadValueError, ConflictError, ForbiddenError, NotFoundError
from arena.features.problems import service as problems
from arena.features.problems.documents import FoundProblem, WinProblemQuery, WinProblemRequest
from arena.features.problems.prover import ProblemProver, tasks
from arena.offload import OffloadProcess
from arena.services import Arena
from tests.arena.services.conftest import Person

POSITION = "8/4bwb1/1b1bb3/2bwbw2/1wwwb3/2ww4/3b4/2w5 b - 17"
"""Black wins in three: `d2f4` is the only first move."""
REQUEST = WinProblemRequest(family="loa", position=POSITION, title="Three", max_moves=5)


PROCESS = OffloadProcess()
"""The process of all proofs: one for each test would load the rules again."""


@pytest.fixture(scope="module", autouse=True)
def _ends() -> Iterator[None]:
    yield
    PROCESS.close()


def prove_all(arena: Arena) -> None:
    prover = ProblemProver(arena.store)
    prover.process = PROCESS
    while prover.work(threading.Event()):
        pass


@pytest.fixture
def number(arena: Arena, person: Person) -> int:
    found = problems.add(arena, REQUEST, person("setter")).id
    prove_all(arena)
    return found


def test_a_set_problem_is_proved_in_the_background(arena: Arena, number: int) -> None:
    problem = problems.read(arena, number)
    assert (problem.state, problem.moves, problem.is_unique, problem.level, problem.author) == (
        "accepted",
        3,
        True,
        "medium",
        "setter",
    )
    assert [problem.id for problem in problems.search(arena, WinProblemQuery(family="loa")).items] == [number]
    assert "problem.add" in {line.action for line in arena.store.audit.page().items}


def test_a_problem_that_is_wrong_is_refused_with_the_reason(arena: Arena, person: Person) -> None:
    wrong = WinProblemRequest(family="loa", position=POSITION, max_moves=2)
    found = problems.add(arena, wrong, person("ada"))
    prove_all(arena)
    refused = problems.read(arena, found.id)
    assert (refused.state, refused.problem) == ("refused", "there is no win in 2")
    with pytest.raises(ConflictError, match="is refused"):
        problems.attempt(arena, found.id, ["d2f4"], None)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"position": "nonsense"}, "position"),
        ({"variant": "nonsuch"}, "variant"),
        ({"options": "nothing=1"}, "options"),
        ({"condition": "marbles<=7"}, "condition"),
        ({"condition": "many"}, "condition"),
        ({"position": "8/8/8/3bb3/8/8/8/w7 b - 1"}, "position"),
    ],
)
def test_an_impossible_problem_names_the_field(arena: Arena, given: dict[str, str], field: str) -> None:
    with pytest.raises(BadValueError) as caught:
        problems.add(arena, WinProblemRequest(**{"family": "loa", "position": POSITION, **given}), None)
    assert caught.value.field == field


def test_a_problem_is_solved_against_the_best_defence(arena: Arena, person: Person, number: int) -> None:
    ada = person("ada")
    line: list[str] = []
    answer = problems.attempt(arena, number, ["d2-f4"], ada)
    assert (answer.state, answer.left, len(answer.moves), answer.attempt) == ("continue", 2, 2, None)
    while answer.state == "continue":
        tree = problems.follow(problems.read(arena, number), answer.moves).rest
        line = [*answer.moves, next(iter(tree))]
        answer = problems.attempt(arena, number, line, ada)
    assert (answer.state, answer.left) == ("solved", 0)
    assert answer.attempt is not None
    assert answer.attempt.is_solved
    assert answer.attempt.rating > answer.attempt.rating_before
    assert problems.rating(arena, "loa", ada).wins == 1
    later = problems.attempt(arena, number, ["d2c2"], ada)
    assert later.state == "wrong"
    assert later.attempt == answer.attempt


def test_a_wrong_move_ends_the_first_attempt(arena: Arena, person: Person, number: int) -> None:
    ada = person("ada")
    answer = problems.attempt(arena, number, ["d2c2"], ada)
    assert answer.state == "wrong"
    assert answer.attempt is not None
    assert not answer.attempt.is_solved
    problem = problems.read(arena, number, ada)
    assert (problem.attempts, problem.solved) == (1, 0)
    assert problem.rating > 25


def test_attempts_without_an_account_and_of_the_author_are_not_rated(arena: Arena, person: Person, number: int) -> None:
    setter = replace(person("ada"), user_id=problems.read(arena, number).created_by or 0)
    for who in (None, setter):
        assert problems.attempt(arena, number, ["d2c2"], who).attempt is None
        assert problems.solution(arena, number, who).keys == ["d2f4"]
    assert problems.read(arena, number).attempts == 0


def test_a_hint_and_the_solution_cost_the_first_attempt(arena: Arena, person: Person, number: int) -> None:
    ada, bob = person("ada"), person("bob")
    assert problems.hint(arena, number, (), ada).cells == ("d2",)
    solution = problems.solution(arena, number, bob)
    assert solution.line[0] == "d2f4"
    assert solution.text.startswith("1. d2-f4 ")
    for who in (ada, bob):
        attempt = problems.read(arena, number, who).attempt
        assert attempt is not None
        assert not attempt.is_solved


@pytest.mark.parametrize(
    ("moves", "problem"),
    [
        (["d2f4", "b6b7", "d2d3"], "move 2"),
        (["d2f4", "c1c5"], "does not end with a move of yours"),
        (["a1a1"], "is illegal"),
        ([], "does not end"),
    ],
)
def test_a_line_that_cannot_be_answered_is_refused(arena: Arena, number: int, moves: list[str], problem: str) -> None:
    with pytest.raises(BadValueError, match=problem):
        problems.attempt(arena, number, moves, None)


def test_the_next_problem_is_one_that_was_not_tried(arena: Arena, person: Person, number: int) -> None:
    ada = person("ada")
    assert problems.next_problem(arena, "loa", ada).id == number
    assert problems.next_problem(arena, "loa", None).id == number
    problems.hint(arena, number, (), ada)
    for family, who in (("loa", ada), ("tablut", None), ("chess", None)):
        with pytest.raises(NotFoundError):
            problems.next_problem(arena, family, who)


def test_only_organisers_choose_the_problem_of_the_month(arena: Arena, person: Person, number: int) -> None:
    with pytest.raises(ForbiddenError):
        problems.choose_of_month(arena, number, None, person("ada"))
    found = problems.choose_of_month(arena, number, "2026-12", person("zoe", "organiser"))
    assert found.month == "2026-12"
    assert [one.month for one in problems.of_months(arena)] == ["2026-12"]


def test_authors_and_organisers_remove_a_problem(arena: Arena, person: Person, number: int) -> None:
    author = replace(person("ada"), user_id=problems.read(arena, number).created_by or 0)
    with pytest.raises(ForbiddenError, match="is not yours"):
        problems.remove(arena, number, person("bob"))
    problems.remove(arena, number, author)
    with pytest.raises(NotFoundError):
        problems.read(arena, number)
    for who in (person("zoe", "organiser"), None):
        again = problems.add(arena, REQUEST, author).id
        problems.remove(arena, again, who)
        with pytest.raises(NotFoundError):
            problems.remove(arena, again, who)
    assert "problem.remove" in {line.action for line in arena.store.audit.page().items}


def test_maintenance_chooses_the_problem_of_the_month(arena: Arena, number: int) -> None:
    (task,) = tasks(arena.store)
    assert task.work(lambda: False) == 1
    found = problems.of_month(arena)
    assert found is not None
    assert found.id == number
    assert task.work(lambda: False) == 0


def test_what_was_found_becomes_a_request() -> None:
    found = {"family": "loa", "variant": "standard", "options": {}, "position": POSITION, "in": 3, "source": "a game"}
    assert FoundProblem.read(found).request == WinProblemRequest(
        family="loa", variant="standard", position=POSITION, max_moves=3, source="a game"
    )
    with pytest.raises(BadValueError, match="not a problem"):
        FoundProblem.read({"family": "loa"})
