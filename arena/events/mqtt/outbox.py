"""What a process still has to send to the others: messages in order, and its own running games, sent in batches.

Bounded: the plies of a running game are taken from the game itself when there is somebody to send them to, and when the
queue is full the oldest message is dropped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from arena.events.messages import (
    BATCH_PLIES,
    BroadcastEvent,
    Event,
    GameAborted,
    GameEnded,
    GamePlies,
    GamePly,
    GameStarted,
    RefereeChanged,
)
from arena.events.mqtt.payload import PayloadError, topic_of, write
from arena.events.running import RunningGame, RunningGames

MAX_QUEUED = 2000
"""Messages that wait while the broker is away."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message, ready for the wire."""

    topic: str
    payload: bytes
    is_retained: bool


class MqttOutbox:
    """`put` events of this process in, `take` messages out. `drop` is called with a reason for everything given up."""

    def __init__(self, sender: str, drop: Callable[[str], None]) -> None:
        self.running = RunningGames()
        """The games that are played on behalf of this process."""
        self._sender = sender
        self._drop = drop
        self._sent: dict[str, int] = {}
        """How many plies of a running game were sent; a game that is missing is due as a whole."""
        self._status: RefereeChanged | None = None
        self._queue: deque[Outgoing] = deque()

    # -- in ------------------------------------------------------------------------------------------------------------

    def put(self, event: Event) -> bool:
        """Take in an event of the bus; False when it is not for other processes."""
        match event:
            case GameStarted() | GamePly():
                self.running.take(event)
                if isinstance(event, GameStarted):
                    self._sent.pop(event.game, None)
            case BroadcastEvent():
                if isinstance(event, GameEnded | GameAborted):
                    self._end(event.game)
                if isinstance(event, RefereeChanged):
                    self._status = event
                    if event.state in ("standing by", "stopped"):  # none of the games is played here any more
                        self.running = RunningGames()
                        self._sent.clear()
                self._queue_up(event)
            case _:
                return False
        return True

    def _end(self, name: str) -> None:
        """Send the last plies of a game that does not run any more."""
        if game := self.running.games.get(name):
            self._queue_plies(name, game)
        self.running.forget(name)
        self._sent.pop(name, None)

    def renew(self) -> None:
        """Send the running games as a whole: somebody has missed their beginning."""
        self._sent.clear()

    def reconnect(self) -> None:
        """Say again what this process does and what it plays: the broker may have published the last will."""
        if self._status is not None:
            self._queue_up(self._status)
        self.renew()

    # -- out -----------------------------------------------------------------------------------------------------------

    def fill(self) -> None:
        """Queue the plies that were played since the last time."""
        for name, game in self.running.games.items():
            if name in self._sent:
                self._queue_plies(name, game)
            else:
                self._sent[name] = len(game.plies)
                self._queue_up(game.snapshot(name))

    def take(self) -> Outgoing | None:
        """The next message, which is not kept here any more; None when nothing waits."""
        return self._queue.popleft() if self._queue else None

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits (plies aside)."""
        return not self._queue

    def _queue_plies(self, name: str, game: RunningGame) -> None:
        for first in range(self._sent.get(name, 0), len(game.plies), BATCH_PLIES):
            batch = tuple(game.plies[first : first + BATCH_PLIES])
            self._queue_up(GamePlies(game=name, attempt=game.attempt, first=first + 1, plies=batch))
        self._sent[name] = len(game.plies)

    def message(self, event: BroadcastEvent) -> Outgoing:
        """An event as it is sent. Raises PayloadError."""
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
