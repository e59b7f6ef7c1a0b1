"""Outgoing messages of a process, in order, with the plies of its running games in batches.

Memory is bounded: unsent plies stay in their game until they can be sent, and a full queue drops its oldest message.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from arena.events.messages import (
    BATCH_PLIES,
    BroadcastEvent,
    CoordinatorChanged,
    Event,
    GameAborted,
    GameEnded,
    GamePlies,
    GamePly,
    GameStarted,
)
from arena.events.mqtt.payload import PayloadError, topic_of, write
from arena.events.running import RunningGame, RunningGames

MAX_QUEUED = 2000
"""Messages that wait while the broker is unavailable."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """An encoded message."""

    topic: str
    payload: bytes
    is_retained: bool


class MqttOutbox:
    """The outbox: `put` events in, `take` messages out. `drop` is called with the reason of each dropped message."""

    def __init__(self, sender: str, drop: Callable[[str], None]) -> None:
        self.running = RunningGames()
        """The running games of this process."""
        self._sender = sender
        self._drop = drop
        self._sent: dict[str, int] = {}
        """Number of plies sent of each running game; a missing game is to be sent as a snapshot."""
        self._status: CoordinatorChanged | None = None
        self._queue: deque[Outgoing] = deque()

    # -- in ------------------------------------------------------------------------------------------------------------

    def put(self, event: Event) -> bool:
        """Queue an event; return False if it is not for other processes."""
        match event:
            case GameStarted() | GamePly():
                self.running.take(event)
                if isinstance(event, GameStarted):
                    self._sent.pop(event.game, None)
            case BroadcastEvent():
                if isinstance(event, GameEnded | GameAborted):
                    self._end(event.game)
                if isinstance(event, CoordinatorChanged):
                    self._status = event
                    if event.state in ("standing by", "stopped"):  # no game is played by this process any more
                        self.running = RunningGames()
                        self._sent.clear()
                self._queue_up(event)
            case _:
                return False
        return True

    def _end(self, name: str) -> None:
        """Queue the unsent plies of a game that has ended, and forget the game."""
        if game := self.running.games.get(name):
            self._queue_plies(name, game)
        self.running.forget(name)
        self._sent.pop(name, None)

    def renew(self) -> None:
        """Send all running games as snapshots at the next `fill`, as a listener has missed their start."""
        self._sent.clear()

    def reconnect(self) -> None:
        """Send this process's status and running games again, as the broker may have published the Last Will."""
        if self._status is not None:
            self._queue_up(self._status)
        self.renew()

    # -- out -----------------------------------------------------------------------------------------------------------

    def fill(self) -> None:
        """Queue the plies that were not sent yet; of a game that was not sent yet, queue a snapshot."""
        for name, game in self.running.games.items():
            if name in self._sent:
                self._queue_plies(name, game)
            else:
                self._sent[name] = len(game.plies)
                self._queue_up(game.snapshot(name))

    def take(self) -> Outgoing | None:
        """Remove and return the next message; None if the queue is empty."""
        return self._queue.popleft() if self._queue else None

    @property
    def is_empty(self) -> bool:
        """True if no message waits (apart from plies)."""
        return not self._queue

    def _queue_plies(self, name: str, game: RunningGame) -> None:
        for first in range(self._sent.get(name, 0), len(game.plies), BATCH_PLIES):
            batch = tuple(game.plies[first : first + BATCH_PLIES])
            self._queue_up(GamePlies(game=name, attempt=game.attempt, first=first + 1, plies=batch))
        self._sent[name] = len(game.plies)

    def message(self, event: BroadcastEvent) -> Outgoing:
        """Encode an event. Raises PayloadError."""
        return Outgoing(topic_of(event, self._sender), write(event, self._sender), event.TOPIC.is_retained)

    def _queue_up(self, event: BroadcastEvent) -> None:
        try:
            message = self.message(event)
        except PayloadError as error:
            self._drop(error.reason)
            return
        self._queue.append(message)
        if len(self._queue) > MAX_QUEUED:
            self._queue.popleft()
            self._drop("queue")
