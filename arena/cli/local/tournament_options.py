"""The options of `arena play`, made from the fields of a tournament's settings document.

Every field is an option but those that only a server needs, and lists of tables. An option overrides the file of
`--config`, which is the file of `arena tournament create`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from arena.cli.terminal import argument
from arena.cli.terminal.fields import Place
from referee.game.spec import BotLimits
from referee.rules.core import value_text
from referee.tournament import formats
from referee.tournament.document import Document
from referee.validation import table_of

ON_SERVERS = frozenset({"rated", "pool", "remote_join_timeout_s", "allow_remote", "priority", "start_time", "schedule"})
"""Keys of a document that only a server needs."""
IN_FILES = frozenset({"entries", "handicaps", "opening_lines", "scale_time_control"})
"""Keys of a document that are not options: bots are arguments, `--openings` reads a book."""
ALIASES: Mapping[str, str] = {
    "time_control": "--tc",
    "rule_options": "--option",
    "limits.margin_ms": "--margin",
}
"""Short names of options that people know from other runners, by the path of the field."""
_MEMORY = "limits.memory_bytes"
_MORE_HELP: Mapping[str, str] = {
    "openings": "or the file of a book; 'FILE;order=random;plies=8' shuffles its lines by the seed and cuts them",
}
_METAVARS: Mapping[str, str] = {
    "family": "FAMILY",
    "variant": "VARIANT",
    "time_control": "TIME",
    "openings": "OPENINGS",
    "adjudication.draw": "RULE",
    "adjudication.resign": "RULE",
}
EXAMPLE = """\
# arena play --config match.toml --games 20      options given here override the file
name = "match"
family = "loa"
variant = "scrambled-eggs"
time_control = "40/60+0.5"
games = 100
openings = "random:6:1"

[entries]
bots = ["new=./mybot", "old=./mybot-1.0;tc=5+0.05", "sample:alphabeta"]

[engine_options]            # of all bots that have them; a bot's own settings win
Hash = 64
Threads = 1

[adjudication]
draw = "after=40,moves=8,score=10"
"""
"""An example of a file, shown by `--help` and the documentation; a test plays it."""


@dataclass(frozen=True, slots=True)
class DocumentOption:
    """An option and the field of the document that it sets."""

    path: str
    field: FieldInfo
    group: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the option, those made from the field first."""
        name = self.path.rpartition(".")[2]
        if self.is_mapping:  # one of its names and values at a time
            name = name.removesuffix("s")
        alias = ALIASES.get(self.path)
        if self.path == _MEMORY:  # it counts in another unit
            return ("--memory",)
        return (f"--{name.replace('_', '-')}", *([alias] if alias else []))

    @property
    def shown(self) -> str:
        """The name that messages use."""
        return self.names[-1]

    @property
    def table(self) -> type[BaseModel] | None:
        """The model of a table whose keys are joined in one option; None for a plain value."""
        model: type[BaseModel] | None = table_of(self.field.annotation)
        return model

    @property
    def is_mapping(self) -> bool:
        """True for a table of names and values, whose option may be repeated."""
        return get_origin(self.field.annotation) is dict


def document_options() -> Iterator[DocumentOption]:
    """Yield the options of all fields. The table of a format is one option, the keys of other tables have one each."""
    owners = formats_by_table()
    for name, field in Document.model_fields.items():
        table = table_of(field.annotation)
        if name in ON_SERVERS or name in IN_FILES:
            continue
        if table is None:
            yield DocumentOption(name, field, "tournament")
        elif name in owners:
            yield DocumentOption(name, field, "formats, each chosen by its option")
        else:
            for key, inner in table.model_fields.items():
                yield DocumentOption(f"{name}.{key}", inner, name)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of all fields. Those not given are missing from the namespace."""
    groups: dict[str, Place] = {}
    for option in document_options():
        if option.group not in groups:
            groups[option.group] = parser.add_argument_group(option.group)
        _add(groups[option.group], option)


def _add(group: Place, option: DocumentOption) -> None:
    common: dict[str, Any] = {"dest": option.path, "default": argparse.SUPPRESS}
    kind, values = _kind(option.field.annotation)
    text = _help(option)
    if option.path == _MEMORY:
        usual = BotLimits().memory_bytes // 2**20
        text = f"memory of each bot in MiB (default {usual})"
        group.add_argument(*option.names, metavar="MB", type=_bytes, help=text, **common)
    elif option.is_mapping:
        group.add_argument(
            *option.names, metavar="NAME=VALUE", action="append", help=f"{text}; may be repeated", **common
        )
    elif option.table:
        group.add_argument(*option.names, metavar="KEY=VALUE,…", help=text, **common)
    elif kind is bool:
        group.add_argument(*option.names, action=argparse.BooleanOptionalAction, help=text, **common)
    elif values:
        group.add_argument(*option.names, choices=values, help=text, **common)
    else:
        metavar = _METAVARS.get(option.path) or {int: "NUMBER", float: "NUMBER"}.get(kind) or option.path.upper()
        metavar = metavar.rpartition(".")[2]
        group.add_argument(*option.names, metavar=metavar, help=text, **common)


def _bytes(text: str) -> int:
    return argument.memory(text) * 2**20


def _kind(annotation: Any) -> tuple[type, tuple[str, ...]]:
    """Return the type of a value and, for a `Literal`, its values."""
    if get_origin(annotation) is Literal:
        return str, get_args(annotation)
    if isinstance(annotation, type):
        return annotation, ()
    parts = [part for part in get_args(annotation) if part is not NoneType]
    return _kind(parts[0]) if parts else (str, ())


def _help(option: DocumentOption) -> str:
    table = option.table
    if table is not None:
        keys = ", ".join(f"{key}={value_text(field.default)}" for key, field in _in_options(table))
        words = " ".join((table.__doc__ or "").split()).partition(": ")[2].rstrip(".")
        text = f"{words}; the defaults are {keys}"
    else:
        text = " ".join((option.field.description or "").split()).rstrip(".")
        default = option.field.default
        if option.path in _MORE_HELP:
            text += f"; {_MORE_HELP[option.path]}"
        if default not in (None, "", {}) and not option.field.is_required():
            text += f" (default {value_text(default)})"
    if text[1:2].islower():
        text = text[0].lower() + text[1:]
    return text.replace("`", "").replace("%", "%%")


def _in_options(table: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    """Yield the keys of a table that an option can set: lists and names with values are for files."""
    for key, field in table.model_fields.items():
        if get_origin(field.annotation) not in (list, dict):
            yield key, field


def formats_by_table() -> Mapping[str, str]:
    """Return the names of the formats by their tables in the document."""
    return {format.table: name for name, format in formats.formats().items()}
