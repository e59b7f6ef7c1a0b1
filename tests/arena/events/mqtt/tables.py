"""Generates the tables of docs/reference/events.md from the types: `python -m tests.arena.events.mqtt.tables`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from arena.events.messages import KINDS, BroadcastEvent
from arena.events.topic import ROOT, Topic
from referee.game.record import Ply

FILE = Path(__file__).parents[4] / "docs" / "reference" / "events.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
_TOLD = tuple(Ply(lag_ms=1.0, depth=1, nodes=1, pv="-").told())
_WORDS = {"game": "GAME", "tournament": "NUMBER", "version": "NUMBER", "pool": "POOL", "from": "PROCESS"}


def tables() -> str:
    """Return the tree of topics and the fields of every payload."""
    lines = ["| topic | retained | readers | content |", "|---|---|---|---|"]
    for kind in KINDS:
        for place in (*kind.COPIES, kind.TOPIC):
            retained, who = "yes" if place.is_retained else "no", "everyone" if place.is_public else "servers"
            lines.append(f"| `{address(place)}` | {retained} | {who} | {place.about} |")
    lines.append("")
    lines.append("Every payload has `v` (1) and `from` (the sending process). Further fields:")
    described: set[str] = set()
    for kind in KINDS:
        schema = schema_of(kind)
        if not kind.TOPIC.is_subject_in_payload:
            schema["properties"].pop(kind.TOPIC.subject, None)
        places = ", ".join(f"`{address(place).removeprefix(f'{ROOT}/')}`" for place in (*kind.COPIES, kind.TOPIC))
        lines += ["", f"{places}: {_plain(kind.__doc__)}", "", *_fields(schema)]
        for name, part in schema.get("$defs", {}).items():
            if name == Ply.__name__:  # a record has further fields
                part["properties"] = {name: part["properties"][name] for name in _TOLD}
            if name not in described:
                described.add(name)
                lines += ["", f"`{name}`: {_plain(part.get('description', ''))}", "", *_fields(part)]
    return "\n".join(lines)


def address(topic: Topic) -> str:
    """Return a topic with a placeholder for its subject."""
    return f"{ROOT}/{topic.pattern}".replace(f"{{{topic.subject}}}", _WORDS.get(topic.subject, ""))


def schema_of(kind: type[BroadcastEvent]) -> dict[str, Any]:
    """Return the JSON Schema of a type, with the descriptions of inherited fields."""
    schema = TypeAdapter(kind).json_schema()
    for base in kind.__mro__[1:]:
        if issubclass(base, BroadcastEvent):
            for name, field in TypeAdapter(base).json_schema().get("properties", {}).items():
                schema["properties"][name] = field | schema["properties"][name]
    return schema


def _plain(text: str | None) -> str:
    return " ".join((text or "").split())


def _fields(schema: dict[str, Any]) -> list[str]:
    lines = ["| field | type | what |", "|---|---|---|"]
    required = set(schema.get("required", ()))
    for name, field in schema["properties"].items():
        optional = "" if name in required else ", optional"
        lines.append(f"| `{name}` | {_type(field)}{optional} | {_plain(field.get('description'))} |")
    return lines


def _type(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_type(part) for part in field["anyOf"])
    if "$ref" in field:
        return f"`{field['$ref'].rpartition('/')[2]}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if field.get("type") == "array":
        return f"at most {field['maxItems']} of {_type(field['items'])}"
    bound = f" of at most {field['maxLength']} characters" if "maxLength" in field else ""
    low = field.get("minimum")
    low_text = f" from {int(low)}" if low is not None else ""
    return f"{field.get('type', 'anything')}{bound}{low_text}"


def renewed(text: str) -> str:
    """Return the file with current tables."""
    pattern = re.compile(f"(?<={BEGIN}\n).*?(?={END})", re.DOTALL)
    assert pattern.search(text), f"no {BEGIN} in {FILE}"
    return pattern.sub(lambda _: f"{tables()}\n", text)


if __name__ == "__main__":
    FILE.write_text(renewed(FILE.read_text(encoding="utf-8")), encoding="utf-8")
