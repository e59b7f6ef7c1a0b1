"""Wrong log-ins and known places, counted and remembered for all processes that share a database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from arena.store import Store
from arena.store.people.login_attempts import GUESSES_KEPT, Patience
from arena.store.people.trusted_devices import PLACES_KEPT

AT = datetime(2026, 11, 1, tzinfo=UTC)
STRICT = Patience(free=2, forgiven_s=100, longest_s=10)
LENIENT = Patience(free=50, forgiven_s=100, longest_s=10)


@pytest.mark.parametrize(
    ("count", "elapsed_s", "wait_s"),
    [
        (0, 0, 0),
        (1, 0, 0),
        (2, 0, 1),
        (2, 0.25, 0.75),
        (2, 1, 0),
        (3, 0, 2),
        (4, 0, 4),
        (9, 0, 10),
        (1e9, 3, 7),
        (3, 100, 0),
    ],
)
def test_the_wait_doubles_up_to_the_longest(count: float, elapsed_s: float, wait_s: float) -> None:
    assert STRICT.wait_s(count, elapsed_s) == wait_s


def test_wrong_tries_are_forgiven_one_by_one() -> None:
    assert [STRICT.left(3, elapsed) for elapsed in (0, 50, 100, 1000)] == [3, 2.5, 2, 0]


def test_tries_are_counted_by_each_key_until_one_of_them_is_too_many(store: Store) -> None:
    both = {"place": STRICT, "name": LENIENT}
    assert [store.guesses.take(both, AT) for _ in range(3)] == [0, 0, 1]
    assert store.guesses.take({"name": STRICT}, AT) == 1, "the try that was refused did not count, the others did"
    assert store.guesses.take({"other": STRICT}, AT) == 0
    assert store.guesses.take(both, AT + timedelta(seconds=1)) == 0, "nobody is shut out for good"
    assert store.guesses.take(both, AT + timedelta(seconds=1)) == 2
    assert store.guesses.take(both, AT) == 2, "a clock that goes backwards shortens nothing"


def test_what_was_right_does_not_count(store: Store) -> None:
    for _ in range(10):
        assert store.guesses.take({"place": STRICT}, AT) == 0
        store.guesses.give_back(["place", "unknown"])
    for _ in range(2):
        store.guesses.take({"place": STRICT}, AT)
    store.guesses.forget(["place"])
    assert store.guesses.take({"place": STRICT}, AT) == 0


def test_places_are_known_by_user(store: Store) -> None:
    zoe, ada = (store.users.add(name).id or 0 for name in ("zoe", "ada"))
    store.known_places.remember(zoe, ["a" * 64, "b" * 64], AT)
    store.known_places.remember(zoe, ["a" * 64], AT)
    assert store.known_places.known(zoe, ["a" * 64, "c" * 64]) == {"a" * 64}
    assert store.known_places.known(ada, ["a" * 64]) == set()
    assert store.known_places.is_anybodys("b" * 64)
    assert not store.known_places.is_anybodys("c" * 64)
    store.known_places.forget(zoe)
    assert store.known_places.known(zoe, ["a" * 64]) == set()


def test_what_is_old_is_swept(store: Store) -> None:
    zoe = store.users.add("zoe").id or 0
    store.known_places.remember(zoe, ["a" * 64], AT)
    store.guesses.take({"place": STRICT}, AT)
    assert store.daily_tasks.forget(AT + GUESSES_KEPT) == 0
    assert store.daily_tasks.forget(AT + GUESSES_KEPT + timedelta(seconds=1)) == 1
    assert store.daily_tasks.forget(AT + PLACES_KEPT) == 0
    assert store.daily_tasks.forget(AT + PLACES_KEPT + timedelta(seconds=1)) == 1
