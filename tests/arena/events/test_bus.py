"""The bus: types and subjects, order, slow subscribers, publishers in other threads."""

from __future__ import annotations

import asyncio
import threading

import pytest

from arena.events.bus import Bus
from arena.events.messages import (
    BrokerConnected,
    CoordinatorWakeup,
    Event,
    GameAborted,
    GameMoved,
    GameStarted,
    TournamentChanged,
)
from referee.game.record import Ply


def woken(number: int) -> CoordinatorWakeup:
    return CoordinatorWakeup(tournament=number)


def test_a_subscriber_gets_its_types_in_order() -> None:
    async def run() -> None:
        bus = Bus()
        bus.publish(GameAborted(game="1"))
        async with bus.subscribe(GameMoved, GameAborted, TournamentChanged) as some, bus.subscribe(Event) as everything:
            said = [
                GameMoved(game="1", first=1, plies=(Ply(move="a1a2"),)),
                GameStarted(game="1"),
                TournamentChanged(tournament=3, state="running"),
                GameAborted(game="1"),
            ]
            for event in said:
                bus.publish(event)
            assert [await some.get() for _ in range(3)] == [said[0], said[2], said[3]]
            assert [await everything.get() for _ in said] == said

    asyncio.run(run())


def test_a_subscriber_may_filter_by_subject() -> None:
    async def run() -> None:
        bus = Bus()
        async with bus.subscribe(GameStarted, GameAborted, game="1") as events:
            for event in (GameStarted(game="12"), GameStarted(game="1"), GameAborted(game="2"), GameAborted(game="1")):
                bus.publish(event)
            assert [await events.get() for _ in range(2)] == [GameStarted(game="1"), GameAborted(game="1")]
        with pytest.raises(TypeError, match="BrokerConnected has no game"):
            bus.subscribe(GameAborted, BrokerConnected, game="1")

    asyncio.run(run())


def test_a_slow_subscriber_is_dropped_and_the_others_are_not() -> None:
    async def run() -> None:
        bus = Bus()
        async with bus.subscribe(CoordinatorWakeup, size=3) as slow, bus.subscribe(CoordinatorWakeup) as other:
            for number in range(10):
                bus.publish(woken(number))
            await asyncio.sleep(0)
            assert [event.tournament async for event in slow] == [0, 1, 2]
            assert await slow.get() is None
            bus.publish(woken(10))
            got = [event.tournament for event in [await other.get() for _ in range(11)] if event]
            assert got == list(range(11))

    asyncio.run(run())


def test_publishing_from_threads_wakes_the_loop() -> None:
    async def run() -> None:
        bus = Bus()
        async with bus.subscribe(CoordinatorWakeup) as events:
            threads = [threading.Thread(target=bus.publish, args=(woken(number),)) for number in range(20)]
            for thread in threads:
                thread.start()
            got = {await asyncio.wait_for(events.get(), 60) for _ in threads}
            for thread in threads:
                thread.join()
            assert got == {woken(number) for number in range(20)}

    asyncio.run(run())


def test_a_burst_of_events_wakes_the_loop_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        bus, loop = Bus(), asyncio.get_running_loop()
        calls: list[object] = []
        really = loop.call_soon_threadsafe
        async with bus.subscribe(GameAborted) as events:
            monkeypatch.setattr(loop, "call_soon_threadsafe", lambda call: (calls.append(call), really(call)))
            for burst in (("1", "2", "3"), ("4", "5")):
                for game in burst:
                    bus.publish(GameAborted(game=game))
                assert [await events.get() for _ in burst] == [GameAborted(game=game) for game in burst]
                await asyncio.sleep(0)
        assert len(calls) == 2

    asyncio.run(main())


def test_all_subscribers_get_events_of_threads_in_the_same_order() -> None:
    async def run() -> None:
        bus = Bus()
        async with bus.subscribe(CoordinatorWakeup) as first, bus.subscribe(CoordinatorWakeup) as second:
            threads = [threading.Thread(target=bus.publish, args=(woken(number),)) for number in range(20)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert [await first.get() for _ in threads] == [await second.get() for _ in threads]

    asyncio.run(run())


def test_a_closed_subscription_ends_its_iteration_and_is_removed() -> None:
    async def run() -> None:
        bus = Bus()
        events = bus.subscribe(BrokerConnected)
        bus.publish(BrokerConnected())
        await asyncio.sleep(0)
        events.close()
        events.close()
        bus.publish(BrokerConnected())
        assert len([event async for event in events]) == 1

    asyncio.run(run())


def test_a_subscriber_whose_loop_has_ended_is_forgotten() -> None:
    bus = Bus()

    async def leave() -> None:
        bus.subscribe(BrokerConnected)

    asyncio.run(leave())
    bus.publish(BrokerConnected())
    bus.publish(BrokerConnected())
    assert not bus._subscriptions
