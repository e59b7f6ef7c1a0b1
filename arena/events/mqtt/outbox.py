"""What a process still has to tell the others: messages that wait, and its own running games, told in batches.

Bounded: a game's plies are taken from the game itself when there is somebody to send them to, and of what waits the
least important goes first.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from arena.events.messages import (
    BATCH_PLIES,
    Event,
    GameEnded,
    GameGone,
    GameNews,
    GamePlies,
    GamePly,
    GameSnapshot,
    GameStarted,
    News,
    RefereeChanged,
)
from arena.events.mqtt.payload import NewsError, topic_of, write
from arena.events.running import Running, RunningGame

QUEUE = 2000
"""Messages that wait while the broker is away."""
KEPT = 300
"""States that are said again after the broker was away."""
SNAPSHOT_S = 2.0
"""A running game that has changed is told as a whole that often; one of more than 500 plies more rarely."""
REFRESH_S = 20.0
"""One that has not changed, that often."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message, ready for the wire. An empty payload clears what the broker keeps."""

    topic: str
    payload: bytes
    qos: int
    is_retained: bool

    @classmethod
    def clearing(cls, topic: str) -> Outgoing:
        """What makes the broker forget a topic."""
        return cls(topic, b"", 1, True)


@dataclass(slots=True)
class _Told:
    """How much of a running game has been told."""

    plies: int = 0
    at: float | None = None
    """When the last snapshot was sent, by the monotonic clock; None if the broker has none of this attempt."""
    in_snapshot: int = 0


class Outbox:
    """`take` events of this process, `drain` messages. `drop` is called with a reason for everything given up."""

    def __init__(self, sender: str, drop: Callable[[str], None]) -> None:
        self.running = Running()
        """The games that are played on behalf of this process."""
        self._sender = sender
        self._drop = drop
        self._told: dict[str, _Told] = {}
        self._queue: OrderedDict[str, Outgoing] = OrderedDict()
        self._kept: OrderedDict[str, Outgoing] = OrderedDict()
        self._numbers = itertools.count()

    # -- in ------------------------------------------------------------------------------------------------------------

    def take(self, event: Event) -> bool:
        """Take in an event of the bus; False when nobody else hears of it."""
        match event:
            case GameStarted() | GamePly() | GameSnapshot() | GameEnded() | GameGone():
                self._take_game(event)
            case News():
                self._say(event)
                if isinstance(event, RefereeChanged) and event.state in ("standing by", "stopped"):
                    self.clear_games()
            case _:
                return False
        return True

    def _take_game(self, event: GameNews) -> None:
        if isinstance(event, GameEnded):
            if game := self.running.games.get(event.game):
                self._say_plies(event.game, game)
            self._say(event)
        if isinstance(event, GameEnded | GameGone):
            self._clear(event.game)
        self.running.take(event)
        if isinstance(event, GameStarted) and (told := self._told.get(event.game)):
            told.plies, told.at = 0, None

    def clear_games(self) -> None:
        """None of the games is played by this process any more."""
        for game in list(self.running.games):
            self._clear(game)
            self.running.forget(game)

    def disown(self, game: str) -> None:
        """Another process plays this game now."""
        self.running.forget(game)
        self._told.pop(game, None)

    def clear(self, topic: str) -> None:
        """Have the broker forget what it keeps there."""
        self._put(Outgoing.clearing(topic))
        self._kept.pop(topic, None)

    def put_back(self, messages: Iterable[Outgoing]) -> None:
        """Messages that could not be sent: those that must arrive wait again, in front."""
        for message in reversed(list(messages)):
            if not message.qos:
                self._drop("offline")
            elif message.topic not in self._queue:
                self._queue[message.topic] = message
                self._queue.move_to_end(message.topic, last=False)

    def renew(self) -> None:
        """The broker may have forgotten everything: say again how things are."""
        for told in self._told.values():
            told.at = None
        for topic, message in self._kept.items():
            self._queue.setdefault(topic, message)

    # -- out -----------------------------------------------------------------------------------------------------------

    def drain(self, at: float) -> list[Outgoing]:
        """What is to be sent now, in order; `at` by the monotonic clock, seconds."""
        for name, game in self.running.games.items():
            self._tell(name, game, at)
        found = list(self._queue.values())
        self._queue.clear()
        return found

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits (plies aside)."""
        return not self._queue

    def _tell(self, name: str, game: RunningGame, at: float) -> None:
        told = self._told.setdefault(name, _Told())
        count = len(game.plies)
        age = None if told.at is None else at - told.at
        has_changed = count != told.in_snapshot
        if age is None or age >= REFRESH_S or (has_changed and age >= SNAPSHOT_S * (1 + count // BATCH_PLIES)):
            self._say_plies(name, game, is_new=age is None)
            self._say(game.snapshot(name))
            told.at, told.in_snapshot = at, count
        else:
            self._say_plies(name, game)

    def _say_plies(self, name: str, game: RunningGame, *, is_new: bool = False) -> None:
        """Say the plies that have not been told; not those that a first snapshot brings anyway."""
        told = self._told.setdefault(name, _Told())
        count = len(game.plies)
        for first in [] if is_new else range(told.plies, count, BATCH_PLIES):
            batch = tuple(game.plies[first : first + BATCH_PLIES])
            self._say(GamePlies(game=name, attempt=game.attempt, first=first + 1, plies=batch))
        told.plies = count

    def _clear(self, name: str) -> None:
        if self._told.pop(name, None) is not None:
            self._put(Outgoing.clearing(GameSnapshot.TOPIC.of(name)))

    def message(self, event: News) -> Outgoing:
        """An event as it is sent. Raises NewsError."""
        topic = event.TOPIC
        return Outgoing(topic_of(event, self._sender), write(event, self._sender), topic.qos, topic.is_retained)

    def _say(self, event: News) -> None:
        try:
            message = self.message(event)
        except NewsError as error:
            self._drop(error.reason)
            return
        self._put(message)
        if message.is_retained and not isinstance(event, GameSnapshot | GameEnded):
            self._kept[message.topic] = message
            self._kept.move_to_end(message.topic)
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)

    def _put(self, message: Outgoing) -> None:
        """Let a message wait. Of what the broker keeps only the newest of a topic matters."""
        key = message.topic if message.is_retained else f"{next(self._numbers)}"
        self._queue[key] = message
        self._queue.move_to_end(key)
        if len(self._queue) > QUEUE:
            plies = (key for key, waiting in self._queue.items() if not waiting.qos)
            del self._queue[next(plies, next(iter(self._queue)))]
            self._drop("queue")
