"""The bus: prefixes, order, slow subscribers, publishers in other threads."""

from __future__ import annotations

import asyncio
import threading

from arena.events.bus import Bus


def test_a_subscriber_gets_what_is_under_its_prefixes_in_order() -> None:
    async def run() -> None:
        bus = Bus()
        bus.publish("game/1/end", {"early": True})
        async with bus.subscribe("game/1/", "tournament/") as one, bus.subscribe() as everything:
            for topic in ("game/1/ply", "game/12/ply", "tournament/3/state", "game/1/end"):
                bus.publish(topic, {"of": topic})
            seen = [await one.get() for _ in range(3)]
            assert [event.topic for event in seen if event] == ["game/1/ply", "tournament/3/state", "game/1/end"]
            numbers = [event.seq for event in [await everything.get() for _ in range(4)] if event]
            assert numbers == sorted(set(numbers))
            assert len(numbers) == 4

    asyncio.run(run())


def test_a_slow_subscriber_is_dropped_and_the_others_are_not() -> None:
    async def run() -> None:
        bus = Bus()
        async with bus.subscribe("a", size=3) as slow, bus.subscribe("a") as other:
            for number in range(10):
                bus.publish("a", {"number": number})
            await asyncio.sleep(0)
            assert [event.payload["number"] async for event in slow] == [0, 1, 2]
            assert slow.is_dropped
            assert await slow.get() is None
            bus.publish("a", {"number": 10})
            got = [event.payload["number"] for event in [await other.get() for _ in range(11)] if event]
            assert got == list(range(11))
            assert not other.is_dropped

    asyncio.run(run())


def test_publishing_from_threads_wakes_the_loop() -> None:
    async def run() -> None:
        bus = Bus()
        async with bus.subscribe("t") as events:
            threads = [threading.Thread(target=bus.publish, args=("t", {"number": n})) for n in range(20)]
            for thread in threads:
                thread.start()
            got = [await asyncio.wait_for(events.get(), 10) for _ in threads]
            for thread in threads:
                thread.join()
            assert sorted(event.payload["number"] for event in got if event) == list(range(20))

    asyncio.run(run())


def test_a_closed_subscription_ends_its_iteration_and_costs_nothing_more() -> None:
    async def run() -> None:
        bus = Bus()
        events = bus.subscribe("x")
        bus.publish("x", {})
        await asyncio.sleep(0)
        events.close()
        events.close()
        bus.publish("x", {})
        assert len([event async for event in events]) == 1

    asyncio.run(run())


def test_a_subscriber_whose_loop_has_ended_is_forgotten() -> None:
    bus = Bus()

    async def leave() -> None:
        bus.subscribe("x")

    asyncio.run(leave())
    bus.publish("x", {})
    bus.publish("x", {})
    assert not bus._subscriptions
