"""Settings documents written as TOML: only keys that differ from their defaults. The text can be read again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from arena.tournaments.settings import Document

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ALWAYS = ("name", "family", "format", "time_control")
"""Keys that are written even with their default."""


def as_toml(document: Document) -> str:
    """Return the document as TOML, as organisers would write it."""
    chosen = document.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    whole = document.as_json()
    chosen |= {name: whole[name] for name in _ALWAYS}
    if document.schedule is not None:
        chosen["schedule"] = {name: value for name, value in whole["schedule"].items() if value is not None}
    ordered = {name: chosen[name] for name in Document.model_fields if name in chosen}
    lines = [f"{_key(name)} = {_value(value)}" for name, value in ordered.items() if not _is_table(name, value)]
    for name, value in ordered.items():
        if name == "handicaps":
            for handicap in value:
                lines += ["", f"[[{name}]]", *_pairs(handicap)]
        elif _is_table(name, value) and value:
            lines += ["", f"[{name}]", *_pairs(value)]
    return "\n".join(lines) + "\n"


def _is_table(name: str, value: Any) -> bool:
    return isinstance(value, dict) or name == "handicaps"


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(name)} = {_value(value)}" for name, value in table.items()]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        items = [_value(one) for one in value]
        return f"[{', '.join(items)}]" if sum(map(len, items)) < 90 else "[\n    " + ",\n    ".join(items) + ",\n]"
    if isinstance(value, dict):
        return "{" + ", ".join(_pairs(value)) + "}"
    return repr(value)


def _text(text: str) -> str:
    """Quote a string as JSON does, and escape U+007F, which only TOML requires."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
