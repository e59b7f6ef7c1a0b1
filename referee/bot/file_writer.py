"""Writes bots' files: what a check has measured, as a file that matches and uploads take."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from referee import toml
from referee.bot.command import PYTHON, BotFileError
from referee.bot.file import ROOT, BotFile, file_in, parse_bot_file
from referee.game.spec import BotSpec
from referee.sandbox.view import is_shared, is_too_much, named_files


@dataclass(frozen=True, slots=True)
class SavedCapabilities:
    """A bot's file whose table `[capabilities]` can be replaced: the text before and after that table."""

    file: Path
    before: str
    after: str

    def write(self, capabilities: Mapping[str, Any]) -> None:
        """Write the file with these capabilities in place of the old ones."""
        self.file.write_text(self.text(capabilities), encoding="utf-8")

    def text(self, capabilities: Mapping[str, Any]) -> str:
        lines = "".join(f"{line}\n" for line in _table("capabilities", capabilities))
        return "\n".join(part for part in (self.before, lines, self.after) if part)


def saved_capabilities(path: Path) -> SavedCapabilities:
    """Find the table of capabilities in a bot's file. Raises BotFileError if `path` is not a bot's file."""
    file = file_in(path)
    if file.suffix != ".toml" or not file.is_file():
        raise BotFileError(f"{path}: --update is for a bot's file; write one with --write-config FILE")
    lines = file.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    start = next((place for place, line in enumerate(lines) if line.strip() == "[capabilities]"), len(lines))
    end = next((place for place in range(start + 1, len(lines)) if lines[place].lstrip().startswith("[")), len(lines))
    before = "".join(lines[:start]).rstrip()
    saved = SavedCapabilities(file, f"{before}\n" if before else "", "".join(lines[end:]))
    try:
        toml.read(saved.text({}))
    except toml.TomlError:  # the file has capabilities in another form
        raise BotFileError(
            f"{file}: write the capabilities as a table [capabilities], so that --update finds them"
        ) from None
    return saved


def at_home(spec: BotSpec, place: Path) -> BotSpec:
    """Return the bot with a folder of its own and its command's files relative to that folder, as a sandbox shows them.

    The folder is the working folder if all files that the command names are in it, else the smallest folder that
    contains them; `place` if the command names none. Raises ValueError if the folder is a home folder or a large part
    of the machine.
    """
    if spec.folder is not None:
        return spec
    here = os.getcwd()
    named = {name: os.path.abspath(name) for word in spec.command for name in named_files(word)}
    named = {name: path for name, path in named.items() if not is_shared(path)}
    home = here
    if not named:
        home = str(place.resolve())
    elif is_too_much(here) or not all(path.startswith(here + os.sep) for path in named.values()):
        home = os.path.commonpath([path if os.path.isdir(path) else os.path.dirname(path) for path in named.values()])
        if is_too_much(home):
            raise ValueError(
                f"{', '.join(named)}: the bot's folder would be {home}; move these files to a folder of their own"
            )

    def from_home(word: str) -> str:
        head, separator, value = word.partition("=")
        if value in named:
            return head + separator + os.path.relpath(named[value], home)
        pieces = [word] if word in named else re.split("([=:])", word)
        return "".join(os.path.relpath(named[piece], home) if piece in named else piece for piece in pieces)

    def program_from_home(word: str) -> str:
        path = from_home(word)
        return os.path.join(os.curdir, path) if path != word and os.sep not in path else path

    programs = {0, spec.command.index("--") + 1 if "--" in spec.command else 0}  # a bridge starts the one behind it
    command = (program_from_home(word) if n in programs else from_home(word) for n, word in enumerate(spec.command))
    return replace(spec, folder=home, command=tuple(command))


def bot_file_of(spec: BotSpec, family: str) -> BotFile:
    """Return the file of a bot that plays a family. Its command starts with `python` where this Python runs it."""
    return BotFile(
        tuple(PYTHON if word == sys.executable else word for word in spec.command),
        spec.name,
        (family,),
        options=dict(spec.options),
        network=spec.network,
        folder=spec.folder or ROOT,
    )


def write_bot_file(bot: BotFile, file: Path) -> None:
    """Write a bot's file; a folder inside the folder of the file is written relative to it.

    Raises BotFileError for a bot that could not be read from there.
    """
    place = file.absolute().parent.resolve()
    folder = Path(bot.folder)
    if folder.is_absolute() and folder.is_relative_to(place):
        folder = folder.relative_to(place)
    text = bot_file_text(replace(bot, folder=str(folder)))
    parse_bot_file(text, place, str(file))
    file.write_text(text, encoding="utf-8")


def bot_file_text(bot: BotFile) -> str:
    """Return the text of a bot's file, without keys that have their default values."""
    lines, tables = [], []
    for key in fields(BotFile):
        value: object = getattr(bot, key.name)
        if key.name == "remarks":
            lines += [f"{name} = {_value(text)}" for name, text in bot.remarks.items()]
        elif isinstance(value, Mapping):
            tables += ["", *_table(key.name, value)] if value or key.name == "capabilities" else []
        elif value not in (key.default, ()):
            lines.append(f"{key.name} = {_value(value)}")
    return "\n".join([*lines, *tables]) + "\n"


def _table(name: str, values: Mapping[str, object]) -> list[str]:
    """Return the lines of a table. A key with other signs than letters, digits, - and _ is quoted."""
    bare = re.compile(r"[A-Za-z0-9_-]+")
    return [
        f"[{name}]",
        *(f"{key if bare.fullmatch(key) else _value(key)} = {_value(value)}" for key, value in values.items()),
    ]


def _value(value: object) -> str:
    """Return a value in TOML, whose texts, numbers and lists are those of JSON but for the sign DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
