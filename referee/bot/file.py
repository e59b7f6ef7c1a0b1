"""A bot's file: `bot.toml` in a folder, or any file `NAME.toml` of the same form.

name = "natsel"
command = ["./natsel", "--quiet"]
folder = "/opt/natsel"             # where it runs; default: the file's own folder
[options]                          # set before every game
threads = 2
[capabilities]                     # written by `arena check BOT --family F --write-config FILE`; or a JSON file's name
clocks = false
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from protocol.capabilities import Capabilities
from referee.bot.bridge import FAMILY, bridged, is_bridge
from referee.game.spec import BotSpec
from referee.machine import toml
from referee.rules.core import value_text
from referee.sandbox.view import is_shared, is_too_much, named_files

FILE = "bot.toml"
KEYS = ("name", "command", "folder", "options", "capabilities")
"""Keys that are read for a local bot."""
OTHER_KEYS = ("families", "limits", "description", "author", "version", "license", "url")
"""Keys that are read for uploads only, and remarks."""
SAID = frozenset({"families", "name", "author", "options", "result"})
"""Capabilities that every handshake announces: they are not saved."""
_STYLES = {"query": ("none", "response", "bare"), "setoption": ("standard", "bare")}


def read_bot_file(path: Path, family: str = "") -> BotSpec:
    """Read the spec of a bot that is to play a family, from a folder with a `bot.toml` or from such a file.

    Raises ValueError naming the file and the key.
    """
    file = path / FILE if path.is_dir() else path
    try:
        data = toml.read(file.read_text(encoding="utf-8"))
    except OSError:
        raise ValueError(f"{path}: the folder has no {FILE}; write one with name and command") from None
    except UnicodeDecodeError:
        raise ValueError(f"{file}: not UTF-8 text; check that it is the right file") from None
    except toml.TomlError as error:
        raise ValueError(f"{file}: not TOML: {error}; correct the file") from None
    for key in data:
        if key not in KEYS + OTHER_KEYS:
            raise ValueError(f"{file}: unknown key {key[:60]!r}; choose from {', '.join(KEYS + OTHER_KEYS)}")
    command = data.get("command")
    if isinstance(command, str):
        try:
            command = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"{file}: command: {error}; quote it as in a shell") from None
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        raise ValueError(f'{file}: needs a command, such as command = ["./mybot"]')
    folder = (file.parent / str(data.get("folder", "."))).resolve()
    try:
        command = [from_folder(word, folder) for word in command]
    except ValueError as error:
        raise ValueError(f"{file}: command: {error}; move it there, or write another folder = …") from None
    if is_bridge(command):
        command = bridged(command, FAMILY, sys.executable)
    options = data.get("options", {})
    if not isinstance(options, dict):
        raise ValueError(f"{file}: options must be a table of names and values")
    return BotSpec(
        str(data.get("name", "")),
        tuple(word.replace(FAMILY, family) for word in command),
        str(folder),
        capabilities=_capabilities(data.get("capabilities", {}), file),
        options=tuple((str(name), value_text(value)) for name, value in options.items()),
    )


def from_folder(word: str, folder: Path) -> str:
    """Return a word of a command in which absolute paths inside the bot's folder are relative to it, because a sandbox
    shows that folder at another path.

    Raises ValueError for a path that leaves the folder (`../client`).
    """
    pieces = re.split("([=:,])", word)
    for place, piece in enumerate(pieces):
        if os.sep not in piece:
            continue
        path = os.path.normpath(folder / piece)
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        is_inside = Path(path).is_relative_to(folder)
        if not is_inside and ".." in piece.split(os.sep) and not os.path.isabs(piece):
            raise ValueError(f"{piece!r} lies outside {folder}, the only folder of the bot that a sandbox shows")
        if is_inside and os.path.isabs(piece) and os.path.exists(path):
            pieces[place] = os.path.join(".", os.path.relpath(path, folder))
    return "".join(pieces)


def _capabilities(data: Any, file: Path) -> dict[str, Any]:
    if isinstance(data, str):
        source = file.parent / data
        try:
            data = json.loads(source.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"{file}: capabilities: cannot read {source}: {error}") from None
        data = data.get("capabilities", data) if isinstance(data, dict) else data
    if not isinstance(data, dict):
        raise ValueError(f"{file}: capabilities must be a table, or the name of a JSON file")
    return read_capabilities(data, str(file))


def read_capabilities(data: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Validate capabilities from JSON or TOML and return those that differ from the defaults.

    Raises ValueError naming the key and its allowed values.
    """
    found: dict[str, Any] = {}
    usual = Capabilities.default()
    for name in (field.name for field in fields(Capabilities) if field.name not in SAID):
        default = getattr(usual, name)
        value = data.get(name, default)
        allowed = _STYLES.get(name)
        if value not in allowed if allowed else type(value) is not type(default):
            values = allowed or ("true", "false") if isinstance(default, (bool, str)) else ("a number",)
            raise ValueError(f"{source}: capability {name} = {value!r}; it is one of {', '.join(values)}")
        if value != default:
            found[name] = value
    unknown = sorted(set(data) - {field.name for field in fields(Capabilities)})
    if unknown:
        raise ValueError(
            f"{source}: unknown capability {unknown[0]!r}; `arena check BOT --write-config FILE` writes them"
        )
    return found


@dataclass(frozen=True, slots=True)
class SavedCapabilities:
    """A bot's file whose table `[capabilities]` can be replaced: the text before and after that table."""

    file: Path
    before: str
    after: str

    def write(self, capabilities: Mapping[str, Any]) -> None:
        """Write the file with these capabilities in place of the old ones."""
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in capabilities.items())
        gap = "\n" if self.after else ""
        self.file.write_text(f"{self.before}[capabilities]\n{lines}{gap}{self.after}", encoding="utf-8")


def saved_capabilities(path: Path) -> SavedCapabilities:
    """Find the table of capabilities in a bot's file. Raises ValueError if `path` is not a bot's file."""
    file = path / FILE if path.is_dir() else path
    if file.suffix != ".toml" or not file.is_file():
        raise ValueError(f"{path}: --update is for a bot's file; write one with --write-config FILE")
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    if any(line.split("=")[0].strip() == "capabilities" for line in lines):
        raise ValueError(f"{file}: write the capabilities as a table [capabilities], so that --update finds them")
    start = next((place for place, line in enumerate(lines) if line.strip() == "[capabilities]"), len(lines))
    end = next((place for place in range(start + 1, len(lines)) if lines[place].lstrip().startswith("[")), len(lines))
    before = "".join(lines[:start]).rstrip()
    return SavedCapabilities(file, f"{before}\n\n" if before else "", "".join(lines[end:]))


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

    program, *words = spec.command
    found = from_home(program)
    program = os.path.join(".", found) if found != program and os.sep not in found else found
    return replace(spec, folder=home, command=(program, *map(from_home, words)))


def write_bot_file(spec: BotSpec, place: Path | None = None) -> str:
    """Return the text of a bot's file; a `folder` inside `place` is written relative to `place`."""

    def shown(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    lines = [f"name = {shown(spec.name)}"] if spec.name else []
    lines.append(f"command = {shown(list(spec.command))}")
    folder = Path(spec.folder or Path.cwd())
    if place is not None and folder.is_relative_to(place.resolve()):
        folder = folder.relative_to(place.resolve())
    if folder != Path("."):
        lines.append(f"folder = {shown(str(folder))}")
    if spec.options:
        lines += ["", "[options]", *(f"{shown(name)} = {shown(value)}" for name, value in spec.options)]
    lines += ["", "[capabilities]"]
    lines += [f"{name} = {shown(value)}" for name, value in read_capabilities(spec.capabilities, "the bot").items()]
    return "\n".join(lines) + "\n"
