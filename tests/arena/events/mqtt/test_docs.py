"""docs/reference/events.md is up to date: its tables come from the types, its commands exist."""

from __future__ import annotations

import ast
import dataclasses
import re
from pathlib import Path

from pydantic import TypeAdapter

from arena.config import Settings
from arena.events import messages
from tests.arena.events.mqtt import tables

ROOT = Path(__file__).parents[4]
HOME = ROOT / "arena" / "events" / "mqtt" / "connection.py"
TEXT = tables.FILE.read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_models() -> None:
    assert tables.renewed(TEXT) == TEXT, "run python -m tests.arena.events.mqtt.tables"


def test_every_event_is_documented() -> None:
    kinds = {found for found in vars(messages).values() if isinstance(found, type) and hasattr(found, "TOPIC")}
    assert kinds == set(messages.KINDS)
    for kind in kinds:
        for topic in (*kind.COPIES, kind.TOPIC):
            assert f"`{tables.address(topic)}`" in TEXT


def test_every_field_is_documented() -> None:
    events = [value for value in vars(messages).values() if getattr(value, "__module__", "") == messages.__name__]
    events = [value for value in events if dataclasses.is_dataclass(value)]
    assert messages.GameMoved in events
    for event in events:
        described: set[str] = set()
        for base in event.__mro__:  # type: ignore[union-attr]
            if dataclasses.is_dataclass(base):
                properties = TypeAdapter(base).json_schema(by_alias=False).get("properties", {})
                described |= {name for name, field in properties.items() if field.get("description")}
        assert described == {field.name for field in dataclasses.fields(event)}, event


def test_every_setting_of_the_broker_is_documented() -> None:
    for name in Settings.model_fields:
        if name.startswith("mqtt"):
            assert f"`{name}`" in TEXT


def test_topics_in_commands_exist() -> None:
    topics = [topic for kind in messages.KINDS for topic in (*kind.COPIES, kind.TOPIC)]
    patterns = {re.sub(r"[A-Z]+", "+", tables.address(topic)) for topic in topics}
    for found in re.findall(r"-t '([^']+)'", TEXT):
        wanted = re.sub(r"[A-Z]+", "+", found)
        assert wanted in patterns or any(one.startswith(wanted.removesuffix("#")) for one in patterns), found


def test_one_module_uses_the_client() -> None:
    for file in (ROOT / "arena").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.split(".")[0] not in ("aiomqtt", "paho") or file == HOME, file
