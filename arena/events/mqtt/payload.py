"""Events as payloads at the broker: JSON objects with `v` and `from` (the process that says it).

What does not follow is refused, never guessed at; fields that are not known are passed over.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, Field, ValidationError, create_model

from arena.events.messages import CONFIG, KINDS, MAX_TEXT, BroadcastEvent, Name, PlyPayload, Text
from arena.events.topic import VERSION

MAX_BYTES = 1 << 20
"""The largest payload that is said or listened to."""


class PayloadError(ValueError):
    """A message that cannot be believed. `reason` is one of `topic`, `size`, `schema`."""

    def __init__(self, reason: Literal["topic", "size", "schema"], message: str) -> None:
        self.reason = reason
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A message that may be believed."""

    kind: type[BroadcastEvent]
    subject: str | int
    event: BroadcastEvent
    sender: str


class _Payload(BaseModel):
    """What all payloads have."""

    model_config = CONFIG

    v: Literal[1]
    sender: Name = Field(alias="from")


@dataclass(frozen=True, slots=True)
class _Form:
    """How one kind of news is written. `names` are the fields of the payload, as they are there and here."""

    model: type[_Payload]
    names: dict[str, str]
    lines: frozenset[str]
    """Fields with text for people: what is too long is cut."""


_FORMS: dict[type[BroadcastEvent], _Form] = {}


def _form(kind: type[BroadcastEvent]) -> _Form:
    """Made when it is needed first: a process without a broker needs none."""
    if kind not in _FORMS:
        _FORMS[kind] = _new_form(kind)
    return _FORMS[kind]


def _new_form(kind: type[BroadcastEvent]) -> _Form:
    hints = get_type_hints(kind, include_extras=True)
    told: dict[str, Any] = {
        field.name: (hints[field.name], ... if field.default is dataclasses.MISSING else field.default)
        for field in dataclasses.fields(kind)
        if field.name != kind.TOPIC.subject or kind.TOPIC.is_subject_in_payload
    }
    model = create_model(kind.__name__, __base__=_Payload, **told)
    names = {model.model_fields[name].alias or name: name for name in told}
    return _Form(model, names, frozenset(name for name in told if hints[name] == Text))


def read(topic: str, payload: bytes) -> ReceivedMessage:
    """Check what came over the wire. Raises PayloadError."""
    kind, subject = _place(topic)
    if len(payload) > MAX_BYTES:
        raise PayloadError("size", f"{topic}: {len(payload)} bytes, {MAX_BYTES} are allowed")
    form = _form(kind)
    try:
        told = form.model.model_validate_json(payload)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])[:100]
        raise PayloadError("schema", f"{topic}: {place}: {first['msg'][:200]}") from None
    fields = {name: getattr(told, name) for name in form.names.values()}
    if kind.TOPIC.subject not in ("", "from"):
        fields[kind.TOPIC.subject] = subject
    return ReceivedMessage(kind, subject, kind(**fields), told.sender)


def _place(topic: str) -> tuple[type[BroadcastEvent], str | int]:
    for kind in KINDS:
        if (subject := kind.TOPIC.match(topic)) is not None:
            return kind, subject
    raise PayloadError("topic", f"no such topic: {topic[:200]!r}")


def topic_of(event: BroadcastEvent, sender: str) -> str:
    """The topic under which a process tells of an event."""
    name = event.TOPIC.subject
    return event.TOPIC.of(sender if name == "from" else getattr(event, name) if name else "")


def write(event: BroadcastEvent, sender: str) -> bytes:
    """An event as it goes over the wire; texts that are too long are cut. Raises PayloadError."""
    form, name = _form(type(event)), type(event).__name__
    data = {key: getattr(event, field) for key, field in form.names.items()}
    data |= {field: data[field][:MAX_TEXT] for field in form.lines}
    try:
        told = form.model.model_validate({"v": VERSION, "from": sender, **data})
    except ValidationError as error:
        raise PayloadError("schema", f"{name}: {error.errors(include_url=False)[0]['msg']}") from None
    # ASCII only: whoever reads it in a terminal sees no control character of a bot.
    body = told.model_dump(by_alias=True)
    for ply in body.get("plies", ()):
        for key in [key for key in PlyPayload.RARE if ply[key] in (None, "")]:
            del ply[key]
    text = json.dumps(body, separators=(",", ":"))
    if len(text) > MAX_BYTES:
        raise PayloadError("size", f"{name}: {len(text)} bytes, {MAX_BYTES} are allowed")
    return text.encode("ascii")
