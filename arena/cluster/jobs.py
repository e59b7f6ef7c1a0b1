"""The jobs in the game slots of a worker; those that the scheduler no longer waits for are cancelled.

What they send is plain JSON: results with game records as lines, and events, promptly, with plies in batches.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from arena.cluster.game_runner import BundlePlace
from arena.cluster.wire_config import FINISH, RESULT, TAKEN
from referee.game.record import GameRecord, read_record
from referee.machine.pool import JobError, SlotPool, WorkerLostError
from referee.play.slot import follows

T = TypeVar("T")

BATCH_WINDOW_S = 0.02
"""How long an event waits for further events to be sent with: a message costs scheduler and arena a millisecond."""
PLY_BATCH_WINDOW_S = 0.2
"""How long plies wait for further plies to be sent with."""
POLL_INTERVAL_S = 0.1
"""How often a job checks whether the scheduler still waits for it."""
_RECORD = "game record"


class Jobs:
    """The jobs in `slots` game slots. Bundles are unpacked below `folder`; `event_stream` sends the events of jobs.

    `worker` is the id of this process, which every job reports.
    """

    def __init__(self, slots: int, *, sandbox: str, folder: Path, event_stream: EventStream, worker: str) -> None:
        self.slots = slots
        self._folder, self._event_stream, self._worker = folder, event_stream, worker
        self._pool = SlotPool(slots, sandbox=sandbox, on_event=self._send_event)
        self._running: dict[str, Future[str]] = {}
        self._keys: dict[str, str] = {}
        """The job of each running game."""

    def __len__(self) -> int:
        return len(self._running)

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        return self._pool.submit(function, *arguments)

    def call(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Run a function once in every slot and wait; return all results. Raises the function's exception."""
        return [done.result() for done in [self._pool.submit(function, *arguments) for _ in range(self.slots)]]

    async def play(
        self,
        key: str,
        topic: str,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        is_awaited: Callable[[], bool],
    ) -> None:
        """Run a job in a slot and send its result as JSON, or its error; cancel it once `is_awaited` returns False."""
        games = [str(game.id) for game in arguments[0]] if arguments and isinstance(arguments[0], (list, tuple)) else []
        self._event_stream.follow(games, topic)
        self._keys.update(dict.fromkeys(games, key))
        self._event_stream.send_soon(topic, {"event": TAKEN, "key": key, "worker": self._worker})
        future = self._running[key] = self._pool.submit(call_encoded, function, *map(self._localise, arguments))
        answer = asyncio.wrap_future(future)
        try:
            # Polled: Dask does not stop a task that is running (`_is_awaited`).
            while not (await asyncio.wait({answer}, timeout=POLL_INTERVAL_S))[0]:
                if not is_awaited():
                    self._pool.call_off(future)
            self._event_stream.send_soon(topic, {"event": RESULT, "key": key, "result": answer.result()})
        except (JobError, WorkerLostError) as error:
            failure = {"error": str(error), "is_lost": isinstance(error, WorkerLostError)}
            self._event_stream.send_soon(topic, {"event": RESULT, "key": key, **failure})
        finally:
            if not future.done():  # the worker is closing
                self._pool.call_off(future)
            self._event_stream.flush()
            self._event_stream.forget(games)
            for game in games:
                self._keys.pop(game, None)
            self._running.pop(key, None)

    async def clear(self) -> None:
        """Cancel all jobs and wait until they have ended; then all slots are free and no bot is running."""
        futures = list(self._running.values())
        for future in futures:
            self._pool.call_off(future)
        if futures:
            await asyncio.wait([asyncio.wrap_future(future) for future in futures])

    def abort(self) -> None:
        self._pool.abort()

    def close(self) -> None:
        """End the slots."""
        self._pool.abort()
        self._pool.shutdown(cancel_futures=True)

    def _send_event(self, event: dict[str, Any]) -> None:
        """Send the event of a slot; an event with a result also gets the key of the job. Thread-safe."""
        if event["event"] == FINISH:
            event["key"] = self._keys.get(event["game"], "")
        self._event_stream.add(event)

    def _localise(self, argument: Any) -> Any:
        """Convert an argument for this machine: bundles are unpacked in the folder of this worker."""
        if isinstance(argument, BundlePlace):
            return replace(argument, cache=str(self._folder / "unpacked"))
        return argument


class EventStream:
    """The event stream: batches events by topic, one topic per arena, and calls `send` with a topic and its batch."""

    def __init__(self, send: Callable[[str, list[dict[str, Any]]], None]) -> None:
        self._send = send
        self._topics: dict[str, str] = {}
        """The topic of each game."""
        self._waiting: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._incoming: deque[dict[str, Any]] = deque()
        """Events that are not assigned to a topic yet."""
        self._soon: asyncio.TimerHandle | None = None
        self._later: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self, loop: asyncio.AbstractEventLoop) -> None:
        """Send events in this event loop from now on."""
        self._loop = loop

    def close(self) -> None:
        """Stop sending."""
        self._loop = None
        self._incoming.clear()

    def follow(self, games: Iterable[str], topic: str) -> None:
        """Send the events of these games to this topic."""
        self._topics.update(dict.fromkeys(games, topic))

    def forget(self, games: Iterable[str]) -> None:
        """Stop sending the events of these games, which are over."""
        for game in games:
            self._topics.pop(game, None)

    def add(self, event: dict[str, Any]) -> None:
        """Add an event of a game. Thread-safe. Plies wake the loop only if no flush is scheduled."""
        loop = self._loop
        if not loop:
            return
        self._incoming.append(event)
        # A scheduled flush reads `_incoming` too, so the loop need not be woken for each ply.
        if event["event"] != "plies" or not (self._soon or self._later):
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._batch_incoming)

    def send_soon(self, topic: str, event: dict[str, Any]) -> None:
        """Send an event soon, after all earlier ones; plies are batched."""
        self._batch_incoming()
        self._add(topic, event)

    def _add(self, topic: str, event: dict[str, Any]) -> None:
        self._keep(topic, event)
        if self._loop and event["event"] != "plies":
            self._soon = self._soon or self._loop.call_later(BATCH_WINDOW_S, self.flush)
        elif self._loop:
            self._later = self._later or self._loop.call_later(PLY_BATCH_WINDOW_S, self.flush)

    def flush(self) -> None:
        """Send all waiting events now."""
        for timer in (self._soon, self._later):
            if timer:
                timer.cancel()
        self._soon = self._later = None  # before the queue is read: later events wake the loop
        for topic, event in self._routed():
            self._keep(topic, event)
        waiting, self._waiting = self._waiting, defaultdict(list)
        for topic, events in waiting.items():
            self._send(topic, events)

    def _batch_incoming(self) -> None:
        for topic, event in self._routed():
            self._add(topic, event)

    def _routed(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the new events of followed games, with their topic."""
        while self._incoming:
            event = self._incoming.popleft()
            if topic := self._topics.get(str(event.get("game"))):
                yield topic, event

    def _keep(self, topic: str, event: dict[str, Any]) -> None:
        waiting = self._waiting[topic]
        if not waiting or not follows(waiting[-1], event):
            waiting.append(event)


def call_encoded(function: Callable[..., Any], *arguments: Any) -> str:
    """Call a function in a slot and encode its result there, so that the worker forwards it unparsed."""
    return json.dumps(function(*arguments), default=_as_json)


def decode_result(text: str) -> Any:
    """Decode a result, without trusting its content. Raises ValueError if it is malformed or has an invalid record.

    Data of other machines may have any type: raises TypeError if it is not a text.
    """
    return json.loads(text, object_hook=_read)


def _as_json(value: Any) -> dict[str, str]:
    if isinstance(value, GameRecord):
        return {_RECORD: value.line()}
    raise TypeError(f"the answer of a job is JSON and records, not {type(value).__name__}")


def _read(data: dict[str, Any]) -> Any:
    return read_record(data[_RECORD]) if data.keys() == {_RECORD} else data
