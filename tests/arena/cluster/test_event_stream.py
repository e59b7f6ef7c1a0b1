"""Events of jobs on their way to the arena: complete, in order, and without a wake-up for each ply."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from arena.cluster.jobs import EventStream


class Woken(asyncio.SelectorEventLoop):
    """A loop that counts its wake-ups from other threads."""

    times = 0

    def call_soon_threadsafe(self, callback: Callable[..., Any], *args: Any, **named: Any) -> asyncio.Handle:
        self.times += 1
        return super().call_soon_threadsafe(callback, *args, **named)


def plies(game: str, number: int, *moves: str) -> dict[str, Any]:
    """Return an event with plies of a game, as slots send it."""
    return {"event": "plies", "game": game, "number": number, "moves": list(moves), "plies": [0] * len(moves)}


def test_plies_wake_the_loop_once_and_arrive_in_order_in_one_batch() -> None:
    sent: list[tuple[str, list[dict[str, Any]]]] = []
    loop = Woken()
    event_stream = EventStream(lambda topic, events: sent.append((topic, events)))

    async def told() -> None:
        event_stream.open(asyncio.get_running_loop())
        event_stream.follow(["one"], "arena")
        event_stream.add(plies("one", 0, "a"))
        await asyncio.sleep(0)  # the timer of plies is set
        before = loop.times
        for number in range(1, 100):
            event_stream.add(plies("one", number, "b"))
            event_stream.add(plies("unknown", number, "c"))
        assert loop.times == before
        assert sent == []
        event_stream.flush()
        assert [(topic, event["game"], event["moves"]) for topic, (event,) in sent] == [
            ("arena", "one", ["a", *["b"] * 99])
        ]
        event_stream.add(plies("one", 100, "d"))
        event_stream.add({"event": "finish", "game": "one", "record": ""})
        assert loop.times == before + 2  # a result is sent soon, and no timer was set
        event_stream.flush()
        assert [event["event"] for event in sent[1][1]] == ["plies", "finish"]
        event_stream.send_soon("arena", {"event": "taken", "key": "k"})  # a timer is set
        event_stream.add(plies("one", 101, "e"))
        event_stream.send_soon("arena", {"event": "done", "key": "k"})
        event_stream.flush()
        assert [event["event"] for event in sent[2][1]] == ["taken", "plies", "done"]
        event_stream.close()
        event_stream.add(plies("one", 102, "f"))
        event_stream.flush()
        assert len(sent) == 3

    try:
        loop.run_until_complete(told())
    finally:
        loop.close()


def test_plies_are_sent_after_the_batch_window() -> None:
    async def told() -> list[str]:
        sent: asyncio.Queue[list[dict[str, Any]]] = asyncio.Queue()
        event_stream = EventStream(lambda topic, events: sent.put_nowait(events))
        event_stream.open(asyncio.get_running_loop())
        event_stream.follow(["one"], "arena")
        event_stream.add(plies("one", 0, "a"))
        await asyncio.sleep(0)
        event_stream.add(plies("one", 1, "b"))
        (event,) = await asyncio.wait_for(sent.get(), 10)
        moves: list[str] = event["moves"]
        return moves

    assert asyncio.run(told()) == ["a", "b"]
