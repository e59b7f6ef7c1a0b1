"""Problems, first attempts, and the ratings of people and problems against each other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import update
from sqlmodel import col

from arena.documents.win_problem import SolverQuery, WinProblemQuery
from arena.errors import BadValueError, ConflictError, NotFoundError, QuotaError, TakenError
from arena.store import Store
from arena.store.base.models import ProblemAttempt, SolverRating, StoredProblem
from arena.store.problems import problems as module
from arena.store.problems.attempts import START_MU
from arena.store.problems.problems import Proof
from referee.ratings.trueskill import SIGMA, TrueSkillRating
from referee.ratings.trueskill import update as rated
from referee.rules import load

PROOF = Proof(2, True, True, 3, "medium", {"a1b1": {"c1d1": {"a1b2": {}}}}, START_MU["medium"])


def add(store: Store, name: str = "one", **more: Any) -> int:
    row = {"digest": name, "family": "loa", "variant": "standard", "position": "p", "side": "first", "max_moves": 5}
    return store.problems.add(StoredProblem(**{**row, "mu": 25.0, "sigma": SIGMA, **more}))


def accepted(store: Store, name: str = "one", level: str = "medium", **more: Any) -> int:
    number = add(store, name, **more)
    known = {one: getattr(PROOF, one) for one in Proof.__dataclass_fields__}
    store.problems.accept(number, Proof(**{**known, "level": level, "mu": START_MU[level]}))
    return number


def user(store: Store, name: str) -> int:
    return store.users.add(name).id or 0


def test_a_problem_waits_until_it_is_proved(store: Store) -> None:
    number = add(store)
    waiting = store.problems.next_waiting()
    assert waiting is not None
    assert (waiting.id, waiting.state, waiting.is_open) == (number, "waiting", False)
    assert store.problems.page(WinProblemQuery()).items == []
    store.problems.accept(number, PROOF)
    assert store.problems.next_waiting() is None
    found = store.problems.get(number)
    assert (found.state, found.moves, found.is_unique, found.level) == ("accepted", 2, True, "medium")
    assert found.tree == PROOF.tree
    store.problems.refuse(number, "late")  # decided already
    assert store.problems.get(number).problem == ""


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
    first = store.problems.page(WinProblemQuery(limit=3))
    rest = store.problems.page(WinProblemQuery(limit=3, after=first.next))
    assert [one.id for one in [*first.items, *rest.items]] == numbers[::-1]
    assert rest.next is None
    hard = store.problems.page(WinProblemQuery(level="hard", family="loa", moves=2, unique="yes"))
    assert [one.id for one in hard.items] == [numbers[3], numbers[1]]
    assert store.problems.page(WinProblemQuery(unique="no")).items == []
    assert store.problems.page(WinProblemQuery(author="ada")).items == []
    with pytest.raises(BadValueError):
        store.problems.page(WinProblemQuery(after="x"))


def test_a_first_attempt_is_rated_once_by_the_fold(store: Store) -> None:
    number, ada = accepted(store), user(store, "ada")
    found = store.attempts.decide(number, ada, is_solved=True)
    person, problem = rated(TrueSkillRating(), TrueSkillRating(START_MU["medium"]), 1.0, load("loa").draw_probability)
    assert (found.is_solved, found.rating_before, found.rating) == (True, 25.0, person.mu)
    again = store.attempts.decide(number, ada, is_solved=False)
    assert (again.is_solved, again.rating) == (True, person.mu)
    kept = store.problems.get(number, ada)
    assert kept.attempt is not None
    assert (kept.rating, kept.attempts, kept.solved) == (problem.mu, 1, 1)
    assert store.attempts.rating("loa", ada) == person
    assert store.attempts.rating("loa", 99) == TrueSkillRating()
    assert store.attempts.check() == []


def test_simultaneous_first_attempts_of_a_user_count_once(store: Store) -> None:
    number, ada = accepted(store), user(store, "ada")
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda solved: store.attempts.decide(number, ada, is_solved=solved), [True, False] * 4))
    assert len(set(found)) == 1
    assert store.problems.get(number).attempts == 1
    assert store.attempts.check() == []


def test_simultaneous_attempts_of_many_are_folded_in_stored_order(store: Store) -> None:
    numbers = [accepted(store, str(count)) for count in range(3)]
    people = [user(store, f"user{count}") for count in range(3)]
    pairs = [(number, person) for number in numbers for person in people]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda pair: store.attempts.decide(*pair, is_solved=sum(pair) % 2 == 0), pairs))
    assert store.attempts.check() == []
    assert {store.problems.get(number).attempts for number in numbers} == {3}


def test_wrong_ratings_are_found_and_rebuilt(store: Store) -> None:
    number, ada = accepted(store), user(store, "ada")
    store.attempts.decide(number, ada, is_solved=False)
    right = store.attempts.rating("loa", ada), store.problems.get(number).rating
    with store.writing() as session:
        session.execute(update(SolverRating).values(mu=1.0))
        session.execute(update(StoredProblem).where(col(StoredProblem.id) == number).values(mu=2.0, games=7))
        session.execute(update(ProblemAttempt).values(mu=3.0))
    assert [line.partition(":")[0] for line in store.attempts.check()] == [
        "attempt 1",
        f"loa/problems, problem {number}",
        f"loa/problems, user {ada}",
    ]
    assert store.attempts.rebuild() == 1
    assert store.attempts.check() == []
    assert (store.attempts.rating("loa", ada), store.problems.get(number).rating) == right


def test_attempts_at_other_problems_raise(store: Store) -> None:
    number, ada = add(store), user(store, "ada")
    with pytest.raises(ConflictError, match="is waiting"):
        store.attempts.decide(number, ada, is_solved=True)
    with pytest.raises(NotFoundError):
        store.attempts.decide(99, ada, is_solved=True)


def test_solvers_are_listed_best_first_in_parts(store: Store) -> None:
    number = accepted(store)
    for count in range(5):
        store.attempts.decide(number, user(store, f"user{count}"), is_solved=count < 2)
    first = store.attempts.solvers(SolverQuery(family="loa", limit=3))
    rest = store.attempts.solvers(SolverQuery(family="loa", limit=3, after=first.next))
    lines = [*first.items, *rest.items]
    assert sorted(line.name for line in lines) == [f"user{count}" for count in range(5)]
    assert [line.conservative for line in lines] == sorted((line.conservative for line in lines), reverse=True)
    assert all(line.is_provisional and line.rank is None for line in lines)
    assert store.attempts.solvers(SolverQuery(family="tablut")).items == []


def test_the_next_problem_is_the_untried_one_of_nearest_strength(store: Store) -> None:
    easy, medium, hard = (accepted(store, level, level) for level in ("easy", "medium", "hard"))
    ada = user(store, "ada")
    assert store.problems.nearest("loa", 21.0, ada) == easy
    assert store.problems.nearest("loa", 29.0, ada) == hard
    store.attempts.decide(hard, ada, is_solved=False)
    assert store.problems.nearest("loa", 40.0, ada) == medium
    assert store.problems.nearest("loa", 40.0, None) == hard
    assert store.problems.nearest("abalone", 29.0, ada) is None


def test_each_month_has_one_problem_chosen_by_hand_or_the_hardest_unused(store: Store) -> None:
    easy, hard = accepted(store, "easy", "easy"), accepted(store, "hard", "hard")
    assert store.problems.of_month("2026-11") is None
    store.problems.choose(hard, "2026-11")
    store.problems.choose(easy, "2026-11")
    found = store.problems.of_month("2026-11")
    assert found is not None
    assert found.id == easy
    assert store.problems.choose_any("2026-11") is None
    assert store.problems.choose_any("2026-12") == hard
    assert store.problems.choose_any("2027-01") is None
    assert [one.month for one in store.problems.of_months(5)] == ["2026-12", "2026-11"]
    with pytest.raises(ConflictError, match="is waiting"):
        store.problems.choose(add(store, "new"), "2027-01")
    with pytest.raises(NotFoundError):
        store.problems.choose(99, "2027-01")


def test_a_removed_problem_is_gone_but_the_ratings_of_people_stay(store: Store) -> None:
    number, ada = accepted(store), user(store, "ada")
    store.problems.choose(number, "2026-11")
    store.attempts.decide(number, ada, is_solved=True)
    rating = store.attempts.rating("loa", ada)
    store.problems.remove(number)
    for call in (store.problems.get, store.problems.remove):
        with pytest.raises(NotFoundError):
            call(number)
    assert store.problems.page(WinProblemQuery()).items == []
    assert store.problems.of_month("2026-11") is None
    assert store.problems.nearest("loa", 25.0, None) is None
    with pytest.raises(NotFoundError):
        store.problems.choose(number, "2026-12")
    assert store.attempts.check() == []
    store.attempts.rebuild()
    assert store.attempts.rating("loa", ada) == rating
    assert accepted(store) > number  # the same one can be set again


def test_a_problem_removed_before_its_proof_is_not_proved(store: Store) -> None:
    number = add(store)
    store.problems.remove(number)
    assert store.problems.next_waiting() is None
    store.problems.accept(number, PROOF)
    with pytest.raises(NotFoundError):
        store.problems.get(number)
    assert store.attempts.check() == []
