"""Token buckets, concurrency limits and bounded queues, with a manual clock."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from arena.config_file import read_settings
from arena.errors import StoreUnavailableError
from arena.http.problem import Problem
from arena.http.rate_limit import BatchCounter, BoundedQueue, ConcurrencyLimiter, Rate, RateLimiter, SharedRateLimiter
from arena.services.access import count_requests
from arena.services.arena import Arena
from arena.store import Store


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_an_empty_bucket_fills_at_its_rate_and_says_how_long_to_wait() -> None:
    clock = Clock()
    limiter = RateLimiter(Rate(30, 2), clock=clock)  # one token in two seconds
    assert [limiter.take("ada"), limiter.take("ada")] == [0, 0]
    assert limiter.take("ada") == pytest.approx(2.0)
    clock.now += 0.5
    assert limiter.take("ada") == pytest.approx(1.5)
    clock.now += 1.0
    assert limiter.take("ada") == pytest.approx(0.5), "asking in vain costs nothing"
    clock.now += 0.5
    assert limiter.take("ada") == 0
    assert limiter.take("ada") == pytest.approx(2.0)


def test_a_bucket_holds_no_more_than_its_burst() -> None:
    clock = Clock()
    limiter = RateLimiter(Rate(60, 3), clock=clock)
    limiter.take("ada")
    clock.now += 3600
    assert [limiter.take("ada") for _ in range(3)] == [0, 0, 0]
    assert limiter.take("ada") == pytest.approx(1.0)


def test_a_bucket_gives_its_burst_then_its_rate() -> None:
    clock = Clock()
    limiter = RateLimiter(Rate(60, 3), clock=clock)
    assert [limiter.take("ada") for _ in range(3)] == [0, 0, 0]
    assert limiter.take("ada") == pytest.approx(1.0)
    assert limiter.take("bob") == 0
    clock.now += 1
    assert limiter.take("ada") == 0
    clock.now += 1000
    assert [limiter.take("ada") for _ in range(4)][:3] == [0, 0, 0]
    assert limiter.take("ada") > 0


def test_what_is_left_are_whole_tokens() -> None:
    clock = Clock()
    limiter = RateLimiter(Rate(60, 3), clock=clock)
    assert limiter.left("ada") == 3
    limiter.take("ada")
    assert limiter.left("ada") == 2
    clock.now += 0.5
    limiter.take("ada")
    assert limiter.left("ada") == 1, "one and a half"
    assert limiter.left("bob") == 3


def test_the_longest_unused_bucket_is_forgotten() -> None:
    clock = Clock()
    limiter = RateLimiter(Rate(60, 1), capacity=2, clock=clock)
    for key in ("ada", "bob", "ada", "cleo"):
        limiter.take(key)
    assert limiter.take("ada") > 0, "remembered, and empty"
    assert limiter.take("bob") == 0, "forgotten, and full again"


def test_buckets_are_bounded() -> None:
    limiter = RateLimiter(Rate(60, 1), capacity=10)
    for number in range(100):
        limiter.take(number)
    assert len(limiter._buckets) == 10


@pytest.fixture
def count(sqlite_store: Store, tmp_path: Path) -> BatchCounter:
    return partial(count_requests, Arena(sqlite_store, read_settings(None, data=tmp_path)))


def test_processes_that_share_a_limit_let_through_little_more_than_one(count: BatchCounter) -> None:
    rate = Rate(0.001, 40)  # nothing comes back meanwhile
    first, other = (SharedRateLimiter("page", rate, count) for _ in range(2))

    async def passed(limiter: SharedRateLimiter, key: str, count: int) -> int:
        return sum([await limiter.admit(key) == 0 for _ in range(count)])

    async def ask() -> None:
        assert await passed(first, "ada", 30) == 30
        assert await passed(other, "ada", 40) == 10 + 9, "what is left, and of another portion all but what is counted"
        assert await first.admit("ada") == 0, "it has not asked since"
        assert await other.admit("ada") > 1
        assert await passed(other, "bob", 40) == 40

    asyncio.run(ask())


def test_a_limit_that_is_shared_gives_one_process_all_of_it(count: BatchCounter) -> None:
    limiter = SharedRateLimiter("page", Rate(60, 40), count)
    assert asyncio.run(_waits(limiter, 41))[:40] == [0] * 40


def test_each_process_keeps_its_limit_while_the_database_is_away() -> None:
    def away(*_: object) -> float:
        raise StoreUnavailableError("away")

    limiter = SharedRateLimiter("page", Rate(60, 4), away, clock=Clock())
    waits = asyncio.run(_waits(limiter, 5))
    assert waits[:4] == [0] * 4
    assert waits[4] > 0


async def _waits(limiter: RateLimiter, count: int) -> list[float]:
    return [await limiter.admit("ada") for _ in range(count)]


def test_a_gate_counts_each_and_all() -> None:
    gate = ConcurrencyLimiter(2, 3)
    assert [gate.enter("a") for _ in range(3)] == [True, True, False]
    assert [gate.enter("b") for _ in range(2)] == [True, False]
    gate.leave("a")
    assert gate.enter("b")
    assert gate.count == 3


def test_a_place_given_back_is_free_again_for_the_same_and_for_others() -> None:
    gate = ConcurrencyLimiter(1, 2)
    for _ in range(3):
        assert gate.enter("ada") is True
        assert gate.enter("ada") is False
        assert gate.count == 1
        gate.leave("ada")
        assert gate.count == 0
    assert [gate.enter(key) for key in ("ada", "bob", "cleo")] == [True, True, False]
    gate.leave("ada")
    assert gate.enter("cleo") is True
    assert gate.enter("ada") is False, "full in all"


def test_each_place_is_given_back_by_itself() -> None:
    gate = ConcurrencyLimiter(2, 10)
    assert [gate.enter("ada") for _ in range(3)] == [True, True, False]
    gate.leave("ada")
    assert [gate.enter("ada") for _ in range(2)] == [True, False]
    gate.leave("ada")
    gate.leave("ada")
    assert [gate.enter("ada") for _ in range(3)] == [True, True, False]


def test_a_gate_remembers_nobody_who_left() -> None:
    gate = ConcurrencyLimiter(2, 1000)
    for number in range(100):
        gate.enter(number)
        gate.leave(number)
    assert (gate.count, gate._open) == (0, {})


async def _enter(room: BoundedQueue, key: str, told: list[str], leave: asyncio.Event) -> None:
    try:
        async with room.turn(key):
            told.append(f"{key} in")
            await leave.wait()
    except Problem as problem:
        told.append(f"{key} {problem.status} {problem.headers['Retry-After']}")


def test_a_waiting_room_serves_few_and_sends_the_rest_away() -> None:
    async def play() -> tuple[list[str], list[str]]:
        room, told, leave = BoundedQueue(1, each=2, total=3), list[str](), asyncio.Event()
        tasks = [asyncio.create_task(_enter(room, key, told, leave)) for key in ("ada", "ada", "ada", "bob", "cleo")]
        for _ in range(5):
            await asyncio.sleep(0)
        before = sorted(told)
        leave.set()
        await asyncio.gather(*tasks)
        async with room.turn("cleo"):
            return before, sorted(told)

    before, after = asyncio.run(play())
    assert before == ["ada 503 5", "ada in", "cleo 503 5"]
    assert after == ["ada 503 5", "ada in", "ada in", "bob in", "cleo 503 5"]


def test_take_of_a_long_request_takes_more_and_at_most_a_bucket() -> None:
    clock = Clock()
    limiter = RateLimiter(Rate(60, 10), clock=clock)
    assert limiter.take("ada", 4.5) == 0
    assert limiter.left("ada") == 5
    assert limiter.take("ada", 6) == pytest.approx(0.5)
    assert limiter.take("ada", 1000) == pytest.approx(4.5), "a full bucket"
    clock.now += 4.5
    assert limiter.take("ada", 1000) == 0
    assert limiter.left("ada") == 0


def test_processes_that_share_a_limit_count_what_requests_cost(count: BatchCounter) -> None:
    rate = Rate(0.001, 40)
    first, other = (SharedRateLimiter("page", rate, count) for _ in range(2))

    async def ask() -> None:
        assert await first.admit("ada", 35) == 0
        assert await other.admit("ada", 10) == 0, "30 of the 35 are counted: by portions of 10"
        assert await other.admit("ada", 10) > 0
        assert await other.admit("bob", 40) == 0

    asyncio.run(ask())
