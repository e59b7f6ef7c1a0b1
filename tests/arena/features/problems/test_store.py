"""Problems, first attempts, and the ratings of people and problems against each other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, get_args

import pytest
from sqlalchemy import inspect, update
from sqlmodel import col

from arena.errors import BadValueError, ConflictError, NotFoundError, QuotaError, TakenError
from arena.features.problems import documents
from arena.features.problems import store as module
from arena.features.problems.attempts import START_MU, Attempts
from arena.features.problems.documents import SolverQuery, WinProblemQuery, WinProblemResponse
from arena.features.problems.store import Problems, Proof
from arena.features.problems.tables import ProblemAttempt, SolverRating, StoredProblem
from arena.store import Store
from referee.ratings.trueskill import SIGMA, TrueSkillRating
from referee.ratings.trueskill import update as rated
from referee.rules import load
from referee.solver import mining
from tests.arena.store.base.test_tables import differing

PROOF = Proof(2, True, True, 3, "medium", {"a1b1": {"c1d1": {"a1b2": {}}}}, START_MU["medium"])


def test_every_level_has_a_strength_and_fits_its_column() -> None:
    assert get_args(documents.Level) == get_args(mining.Level) == tuple(START_MU)
    assert max(map(len, START_MU)) <= inspect(StoredProblem).columns["level"].type.length


def add(store: Store, name: str = "one", **more: Any) -> int:
    row = {"digest": name, "family": "loa", "variant": "standard", "position": "p", "side": "first", "max_moves": 5}
    return Problems(store.sessions).add(StoredProblem(**{**row, "mu": 25.0, "sigma": SIGMA, **more}))


def accepted(store: Store, name: str = "one", level: str = "medium", **more: Any) -> int:
    number = add(store, name, **more)
    known = {one: getattr(PROOF, one) for one in Proof.__dataclass_fields__}
    Problems(store.sessions).accept(number, Proof(**{**known, "level": level, "mu": START_MU[level]}))
    return number


def user(store: Store, name: str) -> int:
    return store.users.add(name).id or 0


def test_a_problem_waits_until_it_is_proved(store: Store) -> None:
    number = add(store)
    waiting = Problems(store.sessions).next_waiting()
    assert waiting is not None
    assert (waiting.id, waiting.state, waiting.is_open) == (number, "waiting", False)
    assert Problems(store.sessions).page(WinProblemQuery()).items == []
    Problems(store.sessions).accept(number, PROOF)
    assert Problems(store.sessions).next_waiting() is None
    problem = Problems(store.sessions).get(number)
    assert (problem.state, problem.moves, problem.is_unique, problem.level) == ("accepted", 2, True, "medium")
    assert problem.tree == PROOF.tree
    Problems(store.sessions).refuse(number, "late")  # decided already
    assert Problems(store.sessions).get(number).problem == ""


def test_the_same_problem_twice_is_refused(store: Store) -> None:
    number = add(store)
    with pytest.raises(TakenError, match=f"problem {number}"):
        add(store)


def test_problems_waiting_of_one_user_are_limited(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WAITING_PER_USER", 1)
    ada = user(store, "ada")
    add(store, "one", created_by=ada)
    with pytest.raises(QuotaError, match="of yours"):
        add(store, "two", created_by=ada)
    add(store, "three", created_by=user(store, "bob"))
    monkeypatch.setattr(module, "MAX_WAITING", 2)
    with pytest.raises(QuotaError, match="2 problems"):
        add(store, "four")


def test_filters_and_cursors_list_every_problem_once(store: Store) -> None:
    numbers = [accepted(store, str(count), level=("easy", "hard")[count % 2]) for count in range(5)]
    first = Problems(store.sessions).page(WinProblemQuery(limit=3))
    rest = Problems(store.sessions).page(WinProblemQuery(limit=3, after=first.next))
    assert [problem.id for problem in [*first.items, *rest.items]] == numbers[::-1]
    assert rest.next is None
    hard = Problems(store.sessions).page(WinProblemQuery(level="hard", family="loa", moves=2, unique="yes"))
    assert [problem.id for problem in hard.items] == [numbers[3], numbers[1]]
    assert Problems(store.sessions).page(WinProblemQuery(unique="no")).items == []
    assert Problems(store.sessions).page(WinProblemQuery(author="ada")).items == []
    with pytest.raises(BadValueError):
        Problems(store.sessions).page(WinProblemQuery(after="x"))


def test_a_first_attempt_is_rated_once_by_the_fold(store: Store) -> None:
    number, ada = accepted(store), user(store, "ada")
    attempt = Attempts(store.sessions).decide(number, ada, is_solved=True)
    person, problem = rated(TrueSkillRating(), TrueSkillRating(START_MU["medium"]), 1.0, load("loa").draw_probability)
    assert (attempt.is_solved, attempt.rating_before, attempt.rating) == (True, 25.0, person.mu)
    again = Attempts(store.sessions).decide(number, ada, is_solved=False)
    assert (again.is_solved, again.rating) == (True, person.mu)
    kept = Problems(store.sessions).get(number, ada)
    assert kept.attempt is not None
    assert (kept.rating, kept.attempts, kept.solved) == (problem.mu, 1, 1)
    assert Attempts(store.sessions).rating("loa", ada) == person
    assert Attempts(store.sessions).outcomes(ada, [number, 99]) == {number: True}
    assert Attempts(store.sessions).rating("loa", 99) == TrueSkillRating()
    assert Attempts(store.sessions).check() == []


def test_simultaneous_first_attempts_of_a_user_count_once(store: Store) -> None:
    number, ada = accepted(store), user(store, "ada")
    with ThreadPoolExecutor(4) as pool:
        attempts = list(
            pool.map(lambda solved: Attempts(store.sessions).decide(number, ada, is_solved=solved), [True, False] * 4)
        )
    assert len(set(attempts)) == 1
    assert Problems(store.sessions).get(number).attempts == 1
    assert Attempts(store.sessions).check() == []


def test_simultaneous_attempts_of_many_are_folded_in_stored_order(store: Store) -> None:
    numbers = [accepted(store, str(count)) for count in range(3)]
    people = [user(store, f"user{count}") for count in range(3)]
    pairs = [(number, person) for number in numbers for person in people]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda pair: Attempts(store.sessions).decide(*pair, is_solved=sum(pair) % 2 == 0), pairs))
    assert Attempts(store.sessions).check() == []
    assert {Problems(store.sessions).get(number).attempts for number in numbers} == {3}


def test_wrong_ratings_are_found_and_rebuilt(store: Store) -> None:
    number, ada = accepted(store), user(store, "ada")
    Attempts(store.sessions).decide(number, ada, is_solved=False)
    right = Attempts(store.sessions).rating("loa", ada), Problems(store.sessions).get(number).rating
    with store.writing() as session:
        session.execute(update(SolverRating).values(mu=1.0))
        session.execute(update(StoredProblem).where(col(StoredProblem.id) == number).values(mu=2.0, games=7))
        session.execute(update(ProblemAttempt).values(mu=3.0))
    assert [line.partition(":")[0] for line in Attempts(store.sessions).check()] == [
        "attempt 1",
        f"loa/problems, problem {number}",
        f"loa/problems, user {ada}",
    ]
    assert Attempts(store.sessions).rebuild() == 1
    assert Attempts(store.sessions).check() == []
    assert (Attempts(store.sessions).rating("loa", ada), Problems(store.sessions).get(number).rating) == right


def test_attempts_at_other_problems_raise(store: Store) -> None:
    number, ada = add(store), user(store, "ada")
    with pytest.raises(ConflictError, match="is waiting"):
        Attempts(store.sessions).decide(number, ada, is_solved=True)
    with pytest.raises(NotFoundError):
        Attempts(store.sessions).decide(99, ada, is_solved=True)


def test_solvers_are_listed_best_first_in_parts(store: Store) -> None:
    number = accepted(store)
    for count in range(5):
        Attempts(store.sessions).decide(number, user(store, f"user{count}"), is_solved=count < 2)
    first = Attempts(store.sessions).solvers(SolverQuery(family="loa", limit=3))
    rest = Attempts(store.sessions).solvers(SolverQuery(family="loa", limit=3, after=first.next))
    lines = [*first.items, *rest.items]
    assert sorted(line.name for line in lines) == [f"user{count}" for count in range(5)]
    assert [line.conservative for line in lines] == sorted((line.conservative for line in lines), reverse=True)
    assert all(line.is_provisional and line.rank is None for line in lines)
    assert Attempts(store.sessions).solvers(SolverQuery(family="tablut")).items == []


def test_the_next_problem_is_the_untried_one_of_nearest_strength(store: Store) -> None:
    easy, medium, hard = (accepted(store, level, level) for level in ("easy", "medium", "hard"))
    ada = user(store, "ada")
    assert Problems(store.sessions).nearest("loa", 21.0, ada) == easy
    assert Problems(store.sessions).nearest("loa", 29.0, ada) == hard
    Attempts(store.sessions).decide(hard, ada, is_solved=False)
    assert Problems(store.sessions).nearest("loa", 40.0, ada) == medium
    assert Problems(store.sessions).nearest("loa", 40.0, None) == hard
    assert Problems(store.sessions).nearest("abalone", 29.0, ada) is None


def test_each_month_has_one_problem_chosen_by_hand_or_the_hardest_unused(store: Store) -> None:
    easy, hard = accepted(store, "easy", "easy"), accepted(store, "hard", "hard")
    assert Problems(store.sessions).of_month("2026-11") is None
    Problems(store.sessions).choose(hard, "2026-11")
    Problems(store.sessions).choose(easy, "2026-11")
    chosen = Problems(store.sessions).of_month("2026-11")
    assert chosen is not None
    assert chosen.id == easy
    assert Problems(store.sessions).choose_any("2026-11") is None
    assert Problems(store.sessions).choose_any("2026-12") == hard
    assert Problems(store.sessions).choose_any("2027-01") is None
    assert [problem.month for problem in Problems(store.sessions).of_months(5)] == ["2026-12", "2026-11"]
    with pytest.raises(ConflictError, match="is waiting"):
        Problems(store.sessions).choose(add(store, "new"), "2027-01")
    with pytest.raises(NotFoundError):
        Problems(store.sessions).choose(99, "2027-01")


def test_a_removed_problem_is_gone_but_the_ratings_of_people_stay(store: Store) -> None:
    number, ada = accepted(store), user(store, "ada")
    Problems(store.sessions).choose(number, "2026-11")
    Attempts(store.sessions).decide(number, ada, is_solved=True)
    rating = Attempts(store.sessions).rating("loa", ada)
    Problems(store.sessions).remove(number)
    for call in (Problems(store.sessions).get, Problems(store.sessions).remove):
        with pytest.raises(NotFoundError):
            call(number)
    assert Problems(store.sessions).page(WinProblemQuery()).items == []
    assert Problems(store.sessions).of_month("2026-11") is None
    assert Problems(store.sessions).nearest("loa", 25.0, None) is None
    with pytest.raises(NotFoundError):
        Problems(store.sessions).choose(number, "2026-12")
    assert Attempts(store.sessions).check() == []
    Attempts(store.sessions).rebuild()
    assert Attempts(store.sessions).rating("loa", ada) == rating
    assert accepted(store) > number  # the same one can be set again


def test_a_problem_removed_before_its_proof_is_not_proved(store: Store) -> None:
    number = add(store)
    Problems(store.sessions).remove(number)
    assert Problems(store.sessions).next_waiting() is None
    Problems(store.sessions).accept(number, PROOF)
    with pytest.raises(NotFoundError):
        Problems(store.sessions).get(number)
    assert Attempts(store.sessions).check() == []


def test_the_document_of_a_problem_has_the_columns_of_its_table_except_those_named() -> None:
    others = {"author", "rating", "attempts", "solved", "attempt", "state"}
    assert differing(StoredProblem, WinProblemResponse) == others
