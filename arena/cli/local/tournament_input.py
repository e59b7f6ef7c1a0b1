"""Reads the tournament that `arena play` plays: from its options, its `--config` file and the file of a book."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.cli.local.tournament_options import DocumentOption, document_options, formats_by_table
from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.text_input import read_text
from referee import toml
from referee.bot.settings import BotSettings, is_setting, read_each
from referee.game.openings import chosen_openings, is_source, read_source, write_opening
from referee.rules.rules import Ruleset
from referee.tournament import formats, openings
from referee.tournament.document import MAX_BOOK_LINES, Document, read
from referee.tournament.part import SettingsError

NAME = "local"
"""Name of a tournament that has none."""


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
    chosen = [name for key, name in formats_by_table().items() if key in words]
    if len(chosen) > 1 or (chosen and words.get("format", chosen[0]) != chosen[0]):
        raise CommandError(f"--{chosen[0]} is for --format {chosen[0]}; choose one format")
    if chosen:
        words["format"] = chosen[0]
    format = formats.format_named(str(words.get("format", table.get("format"))))
    if not format.uses_games and "games" in words:
        words[format.table] = ",".join(filter(None, (words.get(format.table), f"games={words.pop('games')}")))


def _pairs(option: str, parts: Iterable[str]) -> dict[str, str]:
    """Parse `name=value` parts of an option. Raises CommandError that names the keys of a format's table."""
    name_of = {f"--{table}": name for table, name in formats_by_table().items()}
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
