"""Encodes events as JSON objects with `v` and `from` (the sending process), and decodes them.

Invalid payloads are rejected; unknown fields are ignored.
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
"""Largest payload that is sent or accepted."""


class PayloadError(ValueError):
    """An invalid message. `reason` is one of `topic`, `size`, `schema`."""

    def __init__(self, reason: Literal["topic", "size", "schema"], message: str) -> None:
        self.reason = reason
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A validated message."""

    kind: type[BroadcastEvent]
    subject: str | int
    event: BroadcastEvent
    sender: str


class _Payload(BaseModel):
    """The fields that all payloads have in common."""

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


_FORMS: dict[type[BroadcastEvent], _Form] = {}


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


def read(topic: str, payload: bytes) -> ReceivedMessage:
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


def _place(topic: str) -> tuple[type[BroadcastEvent], str | int]:
    for kind in KINDS:
        if (subject := kind.TOPIC.match(topic)) is not None:
            return kind, subject
    raise PayloadError("topic", f"no such topic: {topic[:200]!r}")


def topic_of(event: BroadcastEvent, sender: str) -> str:
    """Return the topic on which `sender` publishes an event."""
    name = event.TOPIC.subject
    return event.TOPIC.of(sender if name == "from" else getattr(event, name) if name else "")


def write(event: BroadcastEvent, sender: str) -> bytes:
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
    for ply in body.get("plies", ()):
        for key in [key for key in PlyPayload.RARE if ply[key] in (None, "")]:
            del ply[key]
    text = json.dumps(body, separators=(",", ":"))
    if len(text) > MAX_BYTES:
        raise PayloadError("size", f"{name}: {len(text)} bytes, {MAX_BYTES} are allowed")
    return text.encode("ascii")
