"""What jobs tell on its way to the arena: all of it, in order, without a look at each ply."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from arena.cluster.event_stream import EventStream


class Woken(asyncio.SelectorEventLoop):
    """A loop that counts how often others wake it."""

    times = 0

    def call_soon_threadsafe(self, callback: Callable[..., Any], *args: Any, **named: Any) -> asyncio.Handle:
        self.times += 1
        return super().call_soon_threadsafe(callback, *args, **named)


def plies(game: str, number: int, *moves: str) -> dict[str, Any]:
    """Plies of a game as its slot tells them."""
    return {"event": "plies", "game": game, "number": number, "moves": list(moves), "plies": [0] * len(moves)}


def test_plies_wake_the_loop_once_and_come_in_order_and_together() -> None:
    sent: list[tuple[str, list[dict[str, Any]]]] = []
    loop = Woken()
    reports = EventStream(lambda topic, events: sent.append((topic, events)))

    async def told() -> None:
        reports.open(asyncio.get_running_loop())
        reports.follow(["one"], "arena")
        reports.tell(plies("one", 0, "a"))
        await asyncio.sleep(0)  # the timer of plies is set
        before = loop.times
        for number in range(1, 100):
            reports.tell(plies("one", number, "b"))
            reports.tell(plies("unknown", number, "c"))
        assert loop.times == before
        assert sent == []
        reports.flush()
        assert [(topic, event["game"], event["moves"]) for topic, (event,) in sent] == [
            ("arena", "one", ["a", *["b"] * 99])
        ]
        reports.tell(plies("one", 100, "d"))
        reports.tell({"event": "finish", "game": "one", "record": ""})
        assert loop.times == before + 2  # a result is soon to be sent, and no timer was set
        reports.flush()
        assert [event["event"] for event in sent[1][1]] == ["plies", "finish"]
        reports.put("arena", {"event": "taken", "key": "k"})  # a timer is set
        reports.tell(plies("one", 101, "e"))
        reports.put("arena", {"event": "done", "key": "k"})
        reports.flush()
        assert [event["event"] for event in sent[2][1]] == ["taken", "plies", "done"]
        reports.close()
        reports.tell(plies("one", 102, "f"))
        reports.flush()
        assert len(sent) == 3

    try:
        loop.run_until_complete(told())
    finally:
        loop.close()


def test_plies_are_sent_by_themselves_after_a_while() -> None:
    async def told() -> list[str]:
        sent: asyncio.Queue[list[dict[str, Any]]] = asyncio.Queue()
        reports = EventStream(lambda topic, events: sent.put_nowait(events))
        reports.open(asyncio.get_running_loop())
        reports.follow(["one"], "arena")
        reports.tell(plies("one", 0, "a"))
        await asyncio.sleep(0)
        reports.tell(plies("one", 1, "b"))
        (event,) = await asyncio.wait_for(sent.get(), 10)
        found: list[str] = event["moves"]
        return found

    assert asyncio.run(told()) == ["a", "b"]
