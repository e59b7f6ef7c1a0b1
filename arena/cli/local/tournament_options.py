"""The options of `arena play`, made from the fields of a tournament's settings document.

Every field is an option but those that only a server needs, and lists of tables. An option overrides the file of
`--config`, which is the file of `arena tournament create`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import Place
from arena.cli.terminal.text_input import read_text
from referee import toml
from referee.bot.settings import BotSettings, is_setting, read_each
from referee.game.opening_source import read_source
from referee.game.openings import chosen_openings, is_source, write_opening
from referee.game.spec import BotLimits
from referee.rules.core import value_text
from referee.rules.rules import Ruleset
from referee.tournament import formats, openings
from referee.tournament.document import MAX_BOOK_LINES, Document, read
from referee.tournament.part import SettingsError
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
NAME = "local"
"""Name of a tournament that has none."""
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
    owners = _owners()
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


def read_document(arguments: argparse.Namespace, machine_options: Iterable[str]) -> Document:
    """Return the tournament that the command line and its `--config` file describe.

    `machine_options` are options that a file must not have. Raises CommandError, OSError, and the errors of a book.
    """
    config: Path | None = arguments.config
    table = _read_file(config, machine_options) if config else {}
    options = {option.path: option for option in document_options() if hasattr(arguments, option.path)}
    words = {path: getattr(arguments, path) for path in options}
    texts, for_all = _split_each(getattr(arguments, "bots", []), arguments.each)
    if texts:
        _put(table, "entries.bots", texts)
    if for_all.time:
        words["time_control"] = str(for_all.time)
    _choose_format(table, words)
    book = words.pop("openings", None)
    for path, value in words.items():
        option = _option(path)
        if option.table or option.is_mapping:
            before = table.get(path, {})
            parts = value.split(",") if option.table else value
            table[path] = {**(before if isinstance(before, dict) else {}), **_pairs(option.shown, parts)}
        else:
            _put(table, path, value)
    if for_all.options:
        table["engine_options"] = {**table.get("engine_options", {}), **dict(for_all.options)}
    _refuse_incomplete(table)
    document = _read(table, options, config)
    if book is not None:
        table |= opening_settings(book, document.ruleset, document.seed)
        document = _read(table, options | {"openings": _option("openings")}, config)
    _refuse_server(document, str(config) if config else "BOT")
    return document


def _option(path: str) -> DocumentOption:
    return next(option for option in document_options() if option.path == path)


def _read_file(path: Path, machine_options: Iterable[str]) -> dict[str, Any]:
    try:
        table = toml.read(path.read_text(encoding="utf-8"))
    except (toml.TomlError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: {error}") from None
    for key in table:
        option = f"--{key.replace('_', '-')}"
        if option in machine_options:
            raise CommandError(
                f"{path}: {key} belongs to the machine, not to the tournament; write {option} on the command line"
            )
    return table


def _split_each(typed: Sequence[str], groups: Sequence[Sequence[str]]) -> tuple[list[str], BotSettings]:
    """Return the bots, also where the parser took them for values of `--each`, and the settings of all bots."""
    texts = list(typed)
    words: list[str] = []
    for group in groups:
        count = 1 + next((place for place, word in enumerate(group[1:]) if not is_setting(word)), len(group) - 1)
        words += group[:count]
        texts += group[count:]
    try:
        return texts, read_each(words)
    except ValueError as error:
        raise CommandError(str(error)) from None


def _choose_format(table: dict[str, Any], words: dict[str, Any]) -> None:
    """Let the option of a format's table choose the format; for some, `--games` sets the games of that table."""
    chosen = [name for key, name in _owners().items() if key in words]
    if len(chosen) > 1 or (chosen and words.get("format", chosen[0]) != chosen[0]):
        raise CommandError(f"--{chosen[0]} is for --format {chosen[0]}; choose one format")
    if chosen:
        words["format"] = chosen[0]
    format = formats.format_named(str(words.get("format", table.get("format"))))
    if not format.uses_games and "games" in words:
        words[format.table] = ",".join(filter(None, (words.get(format.table), f"games={words.pop('games')}")))


def _owners() -> Mapping[str, str]:
    """Return the names of the formats by their tables in the document."""
    return {format.table: name for name, format in formats.formats().items()}


def _pairs(option: str, parts: Iterable[str]) -> dict[str, str]:
    """Parse `name=value` parts of an option. Raises CommandError that names the keys of a format's table."""
    name_of = {f"--{table}": name for table, name in _owners().items()}
    pairs: dict[str, str] = {}
    for part in parts:
        name, sign, value = part.partition("=")
        if not sign or not name.strip():
            form = "NAME=VALUE"
            if option in name_of:
                form = ",".join(f"{key}=…" for key in formats.format_named(name_of[option]).Settings.model_fields)
            raise CommandError(f"{option}: cannot read {part[:60]!r}; write {form}")
        pairs[name.strip()] = value.strip()
    return pairs


def _put(table: dict[str, Any], path: str, value: Any) -> None:
    name, separator, key = path.partition(".")
    if separator:
        inner = table.setdefault(name, {})
        if isinstance(inner, dict):
            inner[key] = value
    else:
        table[name] = value


def _refuse_incomplete(table: dict[str, Any]) -> None:
    table.setdefault("name", NAME)
    entries = table.get("entries")
    missing = [*(["BOT"] if not entries else []), *(["--family"] if "family" not in table else [])]
    if missing:
        raise CommandError(f'missing {", ".join(missing)}; see "arena play --help"')


def _read(table: Mapping[str, Any], options: Mapping[str, DocumentOption], config: Path | None) -> Document:
    """Return the document. Raises CommandError that names each faulty option, or the file and its keys."""
    try:
        document = read(table)
        openings.check(document)
    except SettingsError as error:
        faults = error.extra["errors"] or [{"field": error.field or "", "message": str(error)}]
        places = [_placed(options, config, fault["field"], fault["message"]) for fault in faults]
        raise CommandError("; ".join(places)) from None
    return document


def _placed(options: Mapping[str, DocumentOption], config: Path | None, field: str, sentence: str) -> str:
    """Return the sentence of a fault behind the option, or the file and key, in which it is."""
    given = next((options[path] for path in (field, field.partition(".")[0]) if path in options), None)
    place = given.shown if given else f"{config}: {field}" if config else field
    return f"{place}: {sentence.removeprefix(f'{field}: ')}"


def _refuse_server(document: Document, place: str) -> None:
    """Raise CommandError for what only a server can do."""
    if document.schedule or document.start_time:
        key = "schedule" if document.schedule else "start_time"
        raise CommandError(f"{place}: {key}: a local run starts at once; leave it out, or create this on a server")
    if document.entries.has_query:
        raise CommandError(f"{place}: entries: only a server knows other bots; name them all in entries.bots")
    if len(document.entries.bots) < 2:
        raise CommandError(f"{place}: a tournament needs at least two bots")
    if document.system.keeps_owners_apart(document):
        output.note("only servers know owners of bots: here they may all meet")
    if document.scale_time_control:
        output.note("scale_time_control is for servers with several machines: clocks stay as they are written")


def opening_settings(text: str, ruleset: Ruleset, seed: int) -> dict[str, Any]:
    """Return the keys of a document for the openings named on the command line, reading a book.

    Raises CommandError if the book does not exist, ValueError for invalid settings, ParseError, OSError.
    """
    no_book: dict[str, Any] = {"openings": text, "opening_lines": []}
    if text.startswith("fair:"):
        return no_book
    try:
        source = read_source(text)
    except ValueError as error:
        raise CommandError(str(error)) from None
    if is_source(source.place):
        return no_book
    if not os.path.exists(source.place):
        raise CommandError(
            f"--openings: no such file: {source.place[:200]}; name a book, or write auto, none, random:PLIES:SEED or "
            "setups:VARIANT:SEED",
            Exit.NOT_FOUND,
        )
    book = chosen_openings(ruleset, read_text(source.place), source, seed)
    used = f"; the first {MAX_BOOK_LINES:,} of them are used" if len(book) > MAX_BOOK_LINES else ""
    output.note(f"{source.place}: {len(book):,} opening{'s' if len(book) > 1 else ''}{used}")
    return {"opening_lines": [write_opening(opening) for opening in book[:MAX_BOOK_LINES]]}
