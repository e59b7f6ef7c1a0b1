"""Leases, the audit log, answers to repeated requests."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from arena.store import Store
from arena.store.models import now
from tests.arena.field import Field


def test_one_holds_the_lease(store: Store) -> None:
    at = now()
    assert store.house.take("referee", "one", 10, at)
    assert not store.house.take("referee", "two", 10, at + timedelta(seconds=9))
    assert store.house.take("referee", "one", 10, at + timedelta(seconds=9))  # renewed
    assert not store.house.take("referee", "two", 10, at + timedelta(seconds=18))
    assert store.house.take("referee", "two", 10, at + timedelta(seconds=19))  # expired
    assert not store.house.take("referee", "one", 10, at + timedelta(seconds=20))
    store.house.release("referee", "one")  # not his
    lease = store.house.lease("referee")
    assert lease is not None
    assert lease.owner == "two"
    store.house.release("referee", "two")
    assert store.house.lease("referee") is None


def test_a_race_has_one_winner(store: Store) -> None:
    with ThreadPoolExecutor(6) as pool:
        won = list(pool.map(lambda number: store.house.take("referee", f"holder {number}", 60), range(12)))
    assert won.count(True) == 1


def test_audit(store: Store, field: Field) -> None:
    for number in range(5):
        store.house.note("bot.retire", f"bot:{number % 2}", field.user_id, reason=number)
    assert [line.detail["reason"] for line in store.house.audit(limit=3).items] == [4, 3, 2]
    assert [line.detail["reason"] for line in store.house.audit(subject="bot:1").items] == [3, 1]
    page = store.house.audit(user_id=field.user_id, limit=2)
    assert [line.detail["reason"] for line in store.house.audit(limit=2, after=page.next).items] == [2, 1]


def test_a_request_is_answered_once(store: Store, field: Field) -> None:
    begin = store.house.begin_answer
    assert begin(field.user_id, "key", "POST /bots", "digest") is None
    again = begin(field.user_id, "key", "POST /bots", "digest")
    assert again is not None
    assert again.status == 0
    store.house.end_answer(field.user_id, "key", 201, {"name": "zeta"})
    again = begin(field.user_id, "key", "POST /bots", "digest")
    assert again is not None
    assert (again.status, again.body) == (201, {"name": "zeta"})
    store.house.drop_answer(field.user_id, "key")
    assert begin(field.user_id, "key", "POST /bots", "digest") is None
