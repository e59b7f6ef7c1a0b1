"""The tournament form, generated from the model of its settings document: widget, help text and value of each key.

A submitted form becomes a document as plain data, without values that equal their default. A new key of the model
appears in the form by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from referee.rules.core import value_text
from referee.tournament.document import Document
from referee.tournament.formats import formats

ROWS = 3
"""Empty rows added to a list of tables, such as handicaps."""
_SUGGESTED: Mapping[str, Sequence[str]] = {
    "time_control": ("1+0.01", "5+0.05", "10+0.1", "60+0.6", "180+2", "40/60", "1/move", "depth:4", "nodes:10000"),
    "openings": ("auto", "none", "random:4:1", "setups:VARIANT:1"),
    "schedule.cron": ("0 20 * * *", "0 20 * * 5", "0 */6 * * *", "0 12 1 * *"),
    "schedule.timezone": ("UTC", "Europe/Paris", "Europe/Berlin", "America/New_York", "Asia/Tokyo"),
    "adjudication.draw": ("after=40,moves=8,score=10",),
    "adjudication.resign": ("moves=4,score=600,both=1",),
}
_IN_SHORT: Mapping[str, tuple[str, str]] = {
    "family": ("Family", ""),
    "format": ("Format", ""),
    "rounds": ("Rounds", "Empty: as many as it takes to find a winner."),
    "time_control": (
        "Time of each bot",
        "Seconds, then seconds a move. Also `40/60`, `1/move`, `depth:4` or `nodes:10000`.",
    ),
    "games": ("Games of each pairing", "Two games have one opening, with sides swapped."),
    "start_time": ("Start", "Empty: now."),
    "name": ("Name", "Empty: made from the game and the format."),
    "entries.bots": (
        "Bots by name",
        "`zeta` is its newest version, `zeta v3` that version. The first one is the challenger of a gauntlet, or the "
        "candidate of a sequential test.",
    ),
    "entries.top": ("Number of the best", "Bots from the top of the leaderboard."),
    "entries.all": ("All versions", "Every active version of every bot."),
    "entries.exclude": ("Except", "Bots or versions that do not enter unless they are named."),
}
"""Label and help of the keys that everybody decides, in fewer words than the reference has."""


@dataclass(frozen=True, slots=True)
class FormField:
    """One key of the document and its value. Its `kind` is `text`, `number`, `check`, `choice`, `lines`, `options` or
    `moment`.

    `name` is its path, such as `entries.bots`. `least` and `most` bound numbers, `choices` are the allowed values,
    `suggested` are examples.
    """

    name: str
    kind: str
    text: str
    value: Any
    least: float | None = None
    most: float | None = None
    choices: Sequence[str] = ()
    suggested: Sequence[str] = ()

    @property
    def shown(self) -> str:
        """The value as the form shows it."""
        if self.value is None:
            return ""
        if isinstance(self.value, Mapping):
            return "\n".join(f"{name} = {_item_text(value)}" for name, value in self.value.items())
        if isinstance(self.value, (list, tuple)):
            return "\n".join(map(str, self.value))
        if self.kind == "moment" and len(str(self.value)) >= 16:
            return str(self.value)[:16].replace(" ", "T")
        return f"{self.value:g}" if isinstance(self.value, float) else str(self.value)

    @property
    def format(self) -> str:
        """The only tournament format that uses the key; empty if all use it."""
        return next((name for name, system in formats().items() if self.name in system.keys), "")

    @property
    def label(self) -> str:
        """The key in words."""
        if self.name in _IN_SHORT:
            return _IN_SHORT[self.name][0]
        words = self.name.rpartition(".")[2].replace("_ms", " (ms)").replace("_bytes", " (bytes)").replace("_", " ")
        return words[:1].upper() + words[1:]


def _item_text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else value_text(value)


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the document. `format` is the only tournament format that uses it; empty if all do."""

    name: str
    text: str
    fields: Sequence[FormField]
    format: str = ""


def sections(settings: Mapping[str, Any]) -> list[Section]:
    """Return the whole form, filled from a document, which may be incomplete."""
    schema = Document.model_json_schema()
    tables = schema["$defs"]
    plain = [
        _field(name, described, settings.get(name, described.get("default")))
        for name, described in schema["properties"].items()
        if not _table(described) and not _rows(described)
    ]
    owners = {system.table: system.name for system in formats().values()}
    form = [Section("", "", plain)]
    for name, described in schema["properties"].items():
        if table := _table(described):
            inner, values = tables[table], _mapping(settings.get(name))
            fields = list(_fields(f"{name}.", inner, values))
            form.append(Section(name, inner.get("description", ""), fields, owners.get(name, "")))
        elif table := _rows(described):
            rows = settings.get(name)
            filled = [_mapping(row) for row in rows] if isinstance(rows, (list, tuple)) else []
            fields = [
                field
                for number, values in enumerate([*filled, *({} for _ in range(ROWS))])
                for field in _fields(f"{name}.{number}.", tables[table], values)
            ]
            form.append(Section(name, tables[table].get("description", ""), fields))
    return form


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the form: a title, the keys that everybody decides, keys for a few, and the tables of the step."""

    title: str
    fields: Sequence[FormField]
    further: Sequence[FormField]
    tables: Sequence[Section]


def in_steps(form: Sequence[Section]) -> tuple[list[Step], list[Section]]:
    """Divide the form into steps, and the sections with all other keys, which few organisers need."""
    plain = {field.name: field for field in form[0].fields}
    tables = {section.name: section for section in form[1:]}
    of_formats = [name for name in tables if tables[name].format]
    keys_of_formats = [key for system in formats().values() for key in system.keys]
    described: tuple[tuple[str, Sequence[str], Sequence[str], Sequence[str]], ...] = (
        ("What is played", ("family", "format", *keys_of_formats, "games"), ("variant", "rule_options"), of_formats),
        ("Who plays", (), (), ("entries",)),
        ("When and how fast", ("time_control", "start_time", "name"), ("rated",), ("schedule",)),
    )
    steps = [
        Step(
            title,
            [plain.pop(name) for name in main],
            [plain.pop(name) for name in further],
            [tables.pop(name) for name in names],
        )
        for title, main, further, names in described
    ]
    return steps, [Section("", "", list(plain.values())), *tables.values()]


def document_of(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return a submitted form as a document in plain data, without values that equal their default."""
    document: dict[str, Any] = {}
    for section in sections({name: [{}] * _MAX_ROWS for name in ("handicaps",)}):
        for field in section.fields:
            value = _value(field, fields.get(field.name, ""))
            if value is not None and value != field.value:
                _put(document, field.name.split("."), value)
    for name, value in document.items():
        if isinstance(value, dict) and value and all(key.isdecimal() for key in value):
            document[name] = [value[key] for key in sorted(value, key=int)]
    return document


_MAX_ROWS = 40


def _fields(before: str, table: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[FormField]:
    for name, described in table["properties"].items():
        yield _field(before + name, described, values.get(name, described.get("default")))


def _field(name: str, described: Mapping[str, Any], value: Any) -> FormField:
    alternative = next((schema for schema in described.get("anyOf", ()) if schema.get("type") != "null"), described)
    kind = (
        "choice"
        if "enum" in alternative
        else _KINDS.get(str(alternative.get("format") or alternative.get("type")), "text")
    )
    return FormField(
        name,
        kind,
        _IN_SHORT[name][1] if name in _IN_SHORT else " ".join(described.get("description", "").split()),
        value,
        alternative.get("minimum"),
        alternative.get("maximum"),
        choices=alternative.get("enum", ()),
        suggested=_SUGGESTED.get(name, ()),
    )


_KINDS = {
    "boolean": "check",
    "integer": "number",
    "number": "number",
    "array": "lines",
    "object": "options",
    "date-time": "moment",
}
"""Widgets by type of the model; other types are texts."""


def _table(described: Mapping[str, Any]) -> str:
    """Return the name of the table that a key holds; empty for a plain value."""
    found = (one.get("$ref", "") for one in (described, *described.get("anyOf", ())))
    return next((one.rpartition("/")[2] for one in found if one), "")


def _rows(described: Mapping[str, Any]) -> str:
    """Return the name of the table of which a key holds a list; empty for any other key."""
    return str(described.get("items", {}).get("$ref", "")).rpartition("/")[2]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _value(field: FormField, text: str) -> Any:
    """Parse a field of the form; None for an empty one. Invalid text is passed on unchanged for the model to refuse."""
    text = text.replace("\r\n", "\n")
    match field.kind:
        case "check":
            return bool(text)
        case "lines":
            return [line.strip() for line in text.split("\n") if line.strip()]
        case "options":
            return _options(text)
        case "number":
            return _number(text.strip())
        case "moment":
            moment = text.strip()
            return f"{moment}Z" if len(moment) in (16, 19) else moment or None  # browsers send no time zone
    return text.strip() or None


def _number(text: str) -> Any:
    for parse in (int, float):
        try:
            return parse(text)
        except ValueError:
            continue
    return text or None


def _options(text: str) -> dict[str, Any]:
    """Parse lines of `name = value`."""
    options: dict[str, Any] = {}
    for line in text.split("\n"):
        name, _, value = (part.strip() for part in line.partition("="))
        if name:
            plain = {"true": True, "false": False}.get(value, value)
            options[name] = int(plain) if isinstance(plain, str) and plain.lstrip("-").isdecimal() else plain
    return options


def _put(document: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for part in path[:-1]:
        document = document.setdefault(part, {})
    document[path[-1]] = value
