"""Log-in attempts and trusted devices, shared by all processes of a database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from arena.store import Store
from arena.store.people.login_attempts import ATTEMPTS_RETENTION, DEVICES_RETENTION, BackoffPolicy

AT = datetime(2026, 11, 1, tzinfo=UTC)
STRICT = BackoffPolicy(free=2, forgiven_s=100, longest_s=10)
LENIENT = BackoffPolicy(free=50, forgiven_s=100, longest_s=10)


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
def test_wait_doubles_up_to_maximum(count: float, elapsed_s: float, wait_s: float) -> None:
    assert STRICT.wait_s(count, elapsed_s) == wait_s


def test_attempts_are_forgiven_one_by_one() -> None:
    assert [STRICT.left(3, elapsed) for elapsed in (0, 50, 100, 1000)] == [3, 2.5, 2, 0]


def test_take_counts_every_key_until_one_is_over_its_limit(store: Store) -> None:
    both = {"place": STRICT, "name": LENIENT}
    assert [store.login_attempts.take(both, AT) for _ in range(3)] == [0, 0, 1]
    assert store.login_attempts.take({"name": STRICT}, AT) == 1, "the refused attempt did not count, the others did"
    assert store.login_attempts.take({"other": STRICT}, AT) == 0
    assert store.login_attempts.take(both, AT + timedelta(seconds=1)) == 0, "the delay is not permanent"
    assert store.login_attempts.take(both, AT + timedelta(seconds=1)) == 2
    assert store.login_attempts.take(both, AT) == 2, "a clock set back does not shorten the wait"


def test_give_back_uncounts_right_attempt(store: Store) -> None:
    for _ in range(10):
        assert store.login_attempts.take({"place": STRICT}, AT) == 0
        store.login_attempts.give_back(["place", "unknown"])
    for _ in range(2):
        store.login_attempts.take({"place": STRICT}, AT)
    store.login_attempts.forget(["place"])
    assert store.login_attempts.take({"place": STRICT}, AT) == 0


def test_devices_are_trusted_per_user(store: Store) -> None:
    zoe, ada = (store.users.add(name).id or 0 for name in ("zoe", "ada"))
    store.trusted_devices.remember(zoe, ["a" * 64, "b" * 64], AT)
    store.trusted_devices.remember(zoe, ["a" * 64], AT)
    assert store.trusted_devices.known(zoe, ["a" * 64, "c" * 64]) == {"a" * 64}
    assert store.trusted_devices.known(ada, ["a" * 64]) == set()
    assert store.trusted_devices.is_known_to_any_user("b" * 64)
    assert not store.trusted_devices.is_known_to_any_user("c" * 64)
    store.trusted_devices.forget(zoe)
    assert store.trusted_devices.known(zoe, ["a" * 64]) == set()


def test_forget_deletes_expired_rows(store: Store) -> None:
    zoe = store.users.add("zoe").id or 0
    store.trusted_devices.remember(zoe, ["a" * 64], AT)
    store.login_attempts.take({"place": STRICT}, AT)
    assert store.daily_tasks.forget(AT + ATTEMPTS_RETENTION) == 0
    assert store.daily_tasks.forget(AT + ATTEMPTS_RETENTION + timedelta(seconds=1)) == 1
    assert store.daily_tasks.forget(AT + DEVICES_RETENTION) == 0
    assert store.daily_tasks.forget(AT + DEVICES_RETENTION + timedelta(seconds=1)) == 1
