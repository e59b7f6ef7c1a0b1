"""The problem of the day: the same for everybody, another one the next day, and streaks of users who solve it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import update
from sqlmodel import col

from arena.documents.account import Identity
from arena.features.problems import days as module
from arena.features.problems import service
from arena.features.problems.attempts import Attempts
from arena.features.problems.days import Days
from arena.features.problems.store import Problems
from arena.features.problems.tables import StoredProblem
from arena.services import Arena
from arena.store import Store
from tests.arena.features.problems.stage import set_problem
from tests.arena.features.problems.test_store import accepted, user
from tests.arena.services.conftest import Person

DAY = date(2026, 11, 30)


def at(store: Store, number: int, moment: datetime) -> None:
    with store.writing() as session:
        session.execute(update(StoredProblem).where(col(StoredProblem.id) == number).values(accepted_at=moment))


def old(store: Store, count: int) -> list[int]:
    """Add problems that were accepted before the day."""
    numbers = [accepted(store, f"old {name}") for name in range(count)]
    for number in numbers:
        at(store, number, datetime(2026, 11, 29, 23, 59, tzinfo=UTC))
    return numbers


def test_problems_change_from_day_to_day_and_all_have_their_turn(store: Store) -> None:
    numbers, days = old(store, 6), Days(store.sessions)
    chosen = [days.problems(DAY + timedelta(days=day))["loa"] for day in range(60)]
    assert set(chosen) == set(numbers)
    assert chosen == [days.problems(DAY + timedelta(days=day))["loa"] for day in range(60)]
    assert days.problems(DAY) == days.problems(DAY, "loa") == {"loa": chosen[0]}
    assert days.problems(DAY, "tablut") == {}


def test_the_problem_of_a_day_stays_although_others_come_and_go(store: Store) -> None:
    numbers, days = old(store, 6), Days(store.sessions)
    chosen = days.problems(DAY)["loa"]
    for name in range(20):
        at(store, accepted(store, f"new {name}"), datetime(2026, 11, 30, tzinfo=UTC))
    for number in numbers:
        if number != chosen:
            Problems(store.sessions).remove(number)
    assert days.problems(DAY)["loa"] == chosen


def test_the_first_problems_of_an_arena_need_not_wait_for_the_next_day(store: Store) -> None:
    first = accepted(store, "first")
    accepted(store, "second")
    assert Days(store.sessions).problems(module.today()) == {"loa": first}


@pytest.mark.parametrize(
    ("solved", "streak"),
    [([], 0), ([0], 1), ([1], 1), ([0, 1, 2], 3), ([1, 2, 3], 3), ([2, 3], 0), ([0, 2, 3], 1), ([0, 1, 3, 4], 2)],
)
def test_a_streak_are_the_days_in_a_row_until_today_or_yesterday(store: Store, solved: list[int], streak: int) -> None:
    number, ada, days = accepted(store), user(store, "ada"), Days(store.sessions)
    for back in solved:
        for _ in range(2):  # again changes nothing
            days.note(ada, "loa", DAY - timedelta(days=back), number)
    days.note(ada, "tablut", DAY, number)
    days.note(user(store, "bob"), "loa", DAY, number)
    assert days.streaks(ada, DAY).get("loa", 0) == streak
    assert days.streaks(ada, DAY)["tablut"] == 1


def test_who_solves_the_problem_of_the_day_has_a_streak(arena: Arena, person: Person) -> None:
    ada, eve = person("ada"), person("eve")
    set_problem(arena.store, ada.user_id, title="of the day")
    assert [problem.id for problem in service.of_today(arena)] == [1]

    def streaks(*people: Identity | None) -> list[int]:
        return [service.streaks(arena, by).get("loa", 0) for by in people]

    service.attempt(arena, 1, ["d2c1"], eve)
    assert streaks(ada, eve, None) == [0, 0, 0]
    service.attempt(arena, 1, ["d2c3"], eve)  # the second attempt counts, too: it is not rated
    service.attempt(arena, 1, ["d2c3"], None)
    assert streaks(ada, eve, None) == [0, 1, 0]
    set_problem(arena.store, ada.user_id, "2", title="another")
    service.attempt(arena, 2, ["d2c3"], ada)
    assert streaks(ada) == [0]


def test_a_profile_has_tries_solutions_and_streaks_the_longest_first(arena: Arena, person: Person) -> None:
    ada, eve, store = person("ada"), person("eve"), arena.store
    assert service.profile(arena, eve.user_id) == []
    for digest, family in (("1", "loa"), ("2", "loa"), ("3", "abalone")):
        set_problem(store, ada.user_id, digest, title=digest)
        with store.writing() as session:
            session.execute(update(StoredProblem).where(col(StoredProblem.digest) == digest).values(family=family))
    attempts, days = Attempts(store.sessions), Days(store.sessions)
    for number in (1, 2, 3):
        attempts.decide(number, eve.user_id, is_solved=number == 1)
    for back in range(2):
        days.note(eve.user_id, "loa", module.today() - timedelta(days=back), 1)
    profiles = service.profile(arena, eve.user_id)
    assert [(line.family, line.tried, line.solved, line.streak) for line in profiles] == [
        ("loa", 2, 1, 2),
        ("abalone", 1, 0, 0),
    ]
    assert profiles[0].mu == attempts.rating("loa", eve.user_id).mu
