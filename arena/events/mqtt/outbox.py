"""Outgoing messages of a process: events as JSON, in order, with the plies of its running games in batches.

Memory is bounded: unsent plies stay in their game until they can be sent, and a full queue drops its oldest message.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints

from cachetools import TTLCache
from pydantic import BaseModel, Field, ValidationError, create_model

from arena.events.live import MAX_GAMES, WATCH_S, RunningGame, RunningGames
from arena.events.messages import (
    KINDS,
    BroadcastEvent,
    CoordinatorChanged,
    Event,
    GameAborted,
    GameEnded,
    GameMoved,
    GamePlies,
    GameSnapshot,
    GameStarted,
    GameWatched,
)
from arena.events.payload import BATCH_PLIES, CONFIG, MAX_TEXT, Name, Text
from arena.events.topic import VERSION

MAX_BYTES = 1 << 20
"""Largest payload that is sent or accepted."""
MAX_QUEUED = 2000
"""Messages that wait while the broker is unavailable."""
_FORMS: dict[type[BroadcastEvent], _Form] = {}


@dataclass(frozen=True, slots=True)
class Outgoing:
    topic: str
    payload: bytes
    is_retained: bool


class MqttOutbox:
    """The outbox: `put` events in, `take` messages out. `drop` is called with the reason of each dropped message."""

    def __init__(self, sender: str, drop: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self.running = RunningGames()
        """The running games of this process."""
        self._watched: TTLCache[str, None] = TTLCache(MAX_GAMES, WATCH_S, clock)
        """The games that are watched in other processes; the others are not sent."""
        self._sender = sender
        self._drop = drop
        self._sent: dict[str, int] = {}
        """Number of plies sent of each watched game; a missing game is to be sent as a snapshot."""
        self._status: CoordinatorChanged | None = None
        self._queue: deque[Outgoing] = deque()

    # -- in ------------------------------------------------------------------------------------------------------------

    def put(self, event: Event) -> bool:
        """Queue an event; return False if there is nothing to send to other processes."""
        match event:
            case GameStarted() | GameMoved():
                self.running.take(event)
                if isinstance(event, GameStarted):
                    self._sent.pop(event.game, None)
                return event.game in self._watched
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
        """Queue the unsent plies of a watched game that has ended, and forget the game."""
        if name in self._watched and (game := self.running.games.get(name)):
            self._queue_plies(name, game)
        self.running.forget(name)
        self._sent.pop(name, None)

    def watch(self, request: GameWatched) -> None:
        """Send the plies of a game from now on, at the next `fill` all those so far if the request is new."""
        self._watched[request.game] = None
        if request.is_new:
            self._sent.pop(request.game, None)

    def renew(self) -> None:
        """Send all watched games as snapshots at the next `fill`, as a listener has missed their start."""
        self._sent.clear()

    def reconnect(self) -> None:
        """Send this process's status and watched games again, as the broker may have published the Last Will."""
        if self._status is not None:
            self._queue_up(self._status)
        self.renew()

    # -- out -----------------------------------------------------------------------------------------------------------

    def fill(self) -> None:
        """Queue the unsent plies of watched games; of a game that was not sent yet, queue a snapshot."""
        for name in list(self._watched):
            game = self.running.games.get(name)
            if game is None:
                continue
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

    def messages(self, event: BroadcastEvent) -> list[Outgoing]:
        """Encode an event, for each of its topics. Raises PayloadError."""
        payload, topics = write_payload(event, self._sender), topics_of(event, self._sender)
        if isinstance(event, GameEnded) and event.game not in self._watched:
            topics = topics[-1:]  # without the copy for those who watch the game
        return [Outgoing(topic, payload, event.TOPIC.is_retained) for topic in topics]

    def _queue_up(self, event: BroadcastEvent) -> None:
        try:
            self._queue.extend(self.messages(event))
        except PayloadError as error:
            self._drop(error.reason)
        while len(self._queue) > MAX_QUEUED:
            self._queue.popleft()
            self._drop("queue")


class PayloadError(ValueError):
    """An invalid message. `reason` is one of `topic`, `size`, `schema`."""

    def __init__(self, reason: Literal["topic", "size", "schema"], message: str) -> None:
        self.reason = reason
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """An event as another process has published it, with its sender."""

    kind: type[BroadcastEvent]
    subject: str | int
    event: BroadcastEvent
    sender: str


class _Payload(BaseModel):
    """The fields that all payloads have in common: an event is a JSON object with `v` and `from` (the sending process).

    Invalid payloads are rejected; unknown fields are ignored.
    """

    model_config = CONFIG

    v: Literal[1]
    sender: Name = Field(alias="from")


@dataclass(frozen=True, slots=True)
class _Form:
    """The encoding of one kind of event. `names` maps field names of the payload to those of the event."""

    model: type[_Payload]
    names: dict[str, str]
    lines: frozenset[str]
    """Text fields for people, which are truncated if they are too long."""


def _form(kind: type[BroadcastEvent]) -> _Form:
    """Return the encoding of a kind of event, built on first use: a process without a broker needs none."""
    if kind not in _FORMS:
        _FORMS[kind] = _new_form(kind)
    return _FORMS[kind]


def _new_form(kind: type[BroadcastEvent]) -> _Form:
    hints = get_type_hints(kind, include_extras=True)
    definitions: dict[str, Any] = {
        field.name: (hints[field.name], ... if field.default is dataclasses.MISSING else field.default)
        for field in dataclasses.fields(kind)
        if field.name != kind.TOPIC.subject or kind.TOPIC.is_subject_in_payload
    }
    model = create_model(kind.__name__, __base__=_Payload, **definitions)
    names = {model.model_fields[name].alias or name: name for name in definitions}
    return _Form(model, names, frozenset(name for name in definitions if hints[name] == Text))


def read_payload(topic: str, payload: bytes) -> ReceivedMessage:
    """Decode and validate a message. Raises PayloadError."""
    kind, subject = _place(topic)
    if len(payload) > MAX_BYTES:
        raise PayloadError("size", f"{topic}: {len(payload)} bytes, {MAX_BYTES} are allowed")
    form = _form(kind)
    try:
        message = form.model.model_validate_json(payload)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])[:100]
        raise PayloadError("schema", f"{topic}: {place}: {first['msg'][:200]}") from None
    fields = {name: getattr(message, name) for name in form.names.values()}
    if kind.TOPIC.subject not in ("", "from"):
        fields[kind.TOPIC.subject] = subject
    return ReceivedMessage(kind, subject, kind(**fields), message.sender)


def is_copy(topic: str) -> bool:
    """Return True for a topic of copies of events, which are for spectators."""
    return any(copy.match(topic) is not None for kind in KINDS for copy in kind.COPIES)


def _place(topic: str) -> tuple[type[BroadcastEvent], str | int]:
    for kind in KINDS:
        if (subject := kind.TOPIC.match(topic)) is not None:
            return kind, subject
    raise PayloadError("topic", f"no such topic: {topic[:200]!r}")


def topics_of(event: BroadcastEvent, sender: str) -> list[str]:
    """Return the topics on which `sender` publishes an event."""
    names = {"": "", "from": sender}
    return [
        topic.of(names[topic.subject] if topic.subject in names else getattr(event, topic.subject))
        for topic in event.topics
    ]


def write_payload(event: BroadcastEvent, sender: str) -> bytes:
    """Encode an event; texts that are too long are truncated. Raises PayloadError."""
    form, name = _form(type(event)), type(event).__name__
    data = {key: getattr(event, field) for key, field in form.names.items()}
    data |= {field: data[field][:MAX_TEXT] for field in form.lines}
    try:
        message = form.model.model_validate({"v": VERSION, "from": sender, **data})
    except ValidationError as error:
        raise PayloadError("schema", f"{name}: {error.errors(include_url=False)[0]['msg']}") from None
    # Write ASCII only, so that control characters of a bot reach no terminal.
    body = message.model_dump(by_alias=True)
    if isinstance(event, GamePlies | GameSnapshot):
        body["plies"] = [ply.told() for ply in event.plies]
    text = json.dumps(body, separators=(",", ":"))
    if len(text) > MAX_BYTES:
        raise PayloadError("size", f"{name}: {len(text)} bytes, {MAX_BYTES} are allowed")
    return text.encode("ascii")
