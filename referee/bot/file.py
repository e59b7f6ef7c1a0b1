"""A bot's file, `bot.toml` in a folder or any file `NAME.toml`: its keys, read and validated for every use.

Matches, checks, connections and uploads read it here. For an upload the file and all that it names must be inside the
bundle; nothing else differs.
"""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from protocol.capabilities import Capabilities
from referee import toml
from referee.bot.bridge import FAMILY, bridged, is_bridge
from referee.bot.command import MAX_WORD, PYTHON, BotFileError, is_inside, read_command
from referee.game.spec import BotLimits, BotSpec
from referee.rules import families as known_families
from referee.rules.core import value_text

FILE = "bot.toml"
ROOT = "."
"""The folder of a bot that runs in the folder of its file."""
NEEDS = ("start_ms", "ready_ms", "move_ms", "quit_ms", "memory_bytes", "processes")
"""The limits that a bot may ask for."""
MAX_BYTES = 64 * 1024
MAX_CAPABILITIES_BYTES = 2**20
MAX_OPTIONS = 64
SAID = frozenset({"families", "name", "author", "options", "result", "legal_moves"})
"""Capabilities that every handshake announces: they are not saved."""
REMARKS: Mapping[str, str] = {
    "author": "Who wrote the bot.",
    "version": "The author's own number of the version.",
    "license": "The license of the bot.",
    "url": "Where more is said about the bot.",
}
"""Keys whose texts are shown with a version as they are, up to `MAX_WORD` characters, with their meanings."""
_STYLES = {"query": ("none", "response", "bare"), "setoption": ("standard", "bare")}
_TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
"""Bidirectional classes of characters that change the direction of text."""


@dataclass(frozen=True, slots=True)
class BotFile:
    """The contents of a bot's file. The fields are its keys, and the texts below them are in the reference."""

    command: tuple[str, ...]
    """One text split as by a shell, or a list of words. The first is a file of the bot, a program of the system,
    `python` (the arena's), or a bridge: `"bridge:python agent.py:choose"`. `{family}` is replaced by the family
    played."""
    name: str = ""
    """The bot's name, unless the command line or the upload gives one. An upload makes a valid name of it: `zoe-2-0` of
    `Zoë 2.0`."""
    families: tuple[str, ...] = ()
    """The families an upload plays, unless the upload command names them."""
    options: Mapping[str, str] = field(default_factory=dict)
    """UGI options, set before every game; `true` presses a button."""
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    """What the bot does not support, or the name of a JSON file that says it. `arena check BOT --family F
    --write-config FILE` measures and writes it. For an upload it is only validated: the server measures the
    capabilities itself."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """What the bot needs; asking for more than the arena grants is an error. On your machine use `--memory`."""
    network: Literal["", "loopback"] = ""
    """`"loopback"` lets the bot's programs connect to each other by TCP at 127.0.0.1, where the arena's sandbox is
    `bwrap`; without it sockets are refused. Bridges that need it have it."""
    folder: str = ROOT
    """The folder in which the bot runs and which a sandbox shows it; default: the file's own folder. In an upload it is
    a folder of the bundle."""
    description: str = ""
    """Shown on the page of an upload, up to 1,000 characters."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """The keys of `REMARKS` in the file, which change nothing."""

    def command_for(self, family: str, interpreter: str = PYTHON) -> tuple[str, ...]:
        """Return the command that plays a family; `python` is `interpreter`, and a bridge's name is what runs it."""
        words = bridged(self.command, FAMILY, PYTHON) if is_bridge(self.command) else self.command
        program = interpreter if words[0] == PYTHON else words[0]
        return tuple(word.replace(FAMILY, family) for word in (program, *words[1:]))

    def spec(self, family: str, interpreter: str = PYTHON) -> BotSpec:
        """Return the bot that plays a family, as far as its file says."""
        return BotSpec(
            self.name,
            self.command_for(family, interpreter),
            None if self.folder == ROOT else self.folder,
            capabilities=self.capabilities,
            options=tuple(self.options.items()),
            network=self.network,
        )


KEYS = (*(key.name for key in fields(BotFile) if key.name != "remarks"), *REMARKS)


def read_local_bot(path: Path, family: str = "") -> BotSpec:
    """Read the bot of this machine that is to play a family. Raises BotFileError."""
    bot = read_bot_file(path)
    return replace(bot.spec(family, sys.executable), folder=str((file_in(path).parent / bot.folder).resolve()))


def read_bot_file(path: Path, bundle: Path | None = None) -> BotFile:
    """Read a folder with a `bot.toml`, or such a file. With `bundle`, all that it names must be inside that folder.

    Raises BotFileError.
    """
    file = file_in(path)
    source = str(file.relative_to(bundle) if bundle else file)
    return parse_bot_file(_text(file, source), file.parent, source, bundle)


def is_bot_file(path: Path) -> bool:
    """Return whether a path is a bot by its file: a folder, or a file `NAME.toml`."""
    return path.is_dir() or (path.suffix == ".toml" and path.is_file())


def file_in(path: Path) -> Path:
    """Return the bot's file of a folder; a file is one itself."""
    return path / FILE if path.is_dir() else path


def parse_bot_file(text: str, place: Path, source: str, bundle: Path | None = None) -> BotFile:
    """Parse the text of a bot's file in the folder `place`; errors call it `source`. Raises BotFileError."""
    try:
        table: Mapping[str, object] = toml.read_plain(text, max_bytes=MAX_BYTES)
    except toml.TomlError as error:
        raise BotFileError(f"{source}: not TOML: {error}; correct the file") from None
    for key in table:
        if key not in KEYS:
            raise BotFileError(f"{source}: unknown key {key[:60]!r}; choose from {', '.join(KEYS)}")
    folder = _folder(table.get("folder", ROOT), place, source, bundle)
    families = read_families(table.get("families", []), f"{source}: families")
    return BotFile(
        command=read_command(table.get("command"), families, place / folder, source),
        name=_name(table.get("name", ""), source),
        families=families,
        options=_options(table.get("options", {}), source),
        capabilities=_capabilities(table.get("capabilities", {}), place, source, bundle),
        limits=_limits(table.get("limits", {}), source),
        network=_network(table.get("network", ""), source),
        folder=folder,
        description=_description(table.get("description", ""), source),
        remarks={key: value_text(table[key])[:MAX_WORD] for key in REMARKS if key in table},
    )


def _text(file: Path, source: str) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        text = data.decode()
    except (FileNotFoundError, NotADirectoryError):
        raise BotFileError(f"{file.parent}: the folder has no {FILE}; write one with name and command") from None
    except IsADirectoryError:
        raise BotFileError(f"{source} is a folder") from None
    except UnicodeDecodeError:
        raise BotFileError(f"{source}: not UTF-8 text; check that it is the right file") from None
    if len(data) > MAX_BYTES:
        raise BotFileError(f"{source}: too large: at most {MAX_BYTES:,} bytes")
    return text


def read_families(names: object, place: str) -> tuple[str, ...]:
    """Return the families of these names without duplicates. Raises BotFileError naming the known ones."""
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise BotFileError(f'{place}: write a list of names, such as ["FAMILY"]')
    for name in names:
        if name not in known_families():
            raise BotFileError(f"{place}: unknown family {name[:60]!r}; choose from {', '.join(known_families())}")
    return tuple(dict.fromkeys(names))


def _folder(given: object, place: Path, source: str, bundle: Path | None) -> str:
    if not isinstance(given, str) or not given.isprintable() or len(given) > MAX_WORD:
        raise BotFileError(f"{source}: folder: expected one line of at most {MAX_WORD} characters")
    folder = os.path.normpath(given)
    if bundle and not is_inside(folder):
        raise BotFileError(f"{source}: folder: {given!r} lies outside the bundle; name a folder of the bundle")
    if not (place / folder).is_dir():
        raise BotFileError(f"{source}: folder: no folder {given!r}; write a path from the folder of {source}")
    return folder


def _name(given: object, source: str) -> str:
    if not isinstance(given, str) or not given.isprintable() or len(given) > MAX_WORD:
        raise BotFileError(f"{source}: name: expected one line of at most {MAX_WORD} characters")
    return given


def _network(given: object, source: str) -> Literal["", "loopback"]:
    if given == "loopback":
        return "loopback"
    if given == "":
        return ""
    raise BotFileError(f'{source}: network = {repr(given)[:60]}; write "loopback", or leave it out')


def _description(given: object, source: str) -> str:
    if not isinstance(given, str):
        raise BotFileError(f"{source}: description: expected a text")
    if any(_is_hidden(letter) for letter in given):
        raise BotFileError(
            f"{source}: description: remove control characters and characters that change the text direction"
        )
    return given


def _is_hidden(letter: str) -> bool:
    is_control = unicodedata.category(letter) == "Cc" and letter not in "\n\t"
    return is_control or unicodedata.bidirectional(letter) in _TURNING


def _options(given: object, source: str) -> dict[str, str]:
    if not isinstance(given, dict) or len(given) > MAX_OPTIONS:
        raise BotFileError(f"{source}: options: expected a table of at most {MAX_OPTIONS} names and values")
    options = {}
    for name, value in given.items():
        if not isinstance(value, (str, int, float)):
            raise BotFileError(f"{source}: option {name[:60]!r}: write a text, a number, true or false")
        word = value_text(value)
        if not (name.isprintable() and word.isprintable()) or len(name) > MAX_WORD or len(word) > MAX_WORD:
            raise BotFileError(f"{source}: option {name[:60]!r}: expected one line of at most {MAX_WORD} characters")
        options[name] = word
    return options


def _limits(given: object, source: str) -> dict[str, int]:
    if not isinstance(given, dict):
        raise BotFileError(f"{source}: limits: expected a table of names and numbers")
    granted = asdict(BotLimits())
    limits = {}
    for name, value in given.items():
        if name not in NEEDS:
            raise BotFileError(f"{source}: unknown limit {name[:60]!r}; choose from {', '.join(NEEDS)}")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 2**62:
            raise BotFileError(f"{source}: limits: {name} must be a positive number")
        if value > granted[name]:
            raise BotFileError(f"{source}: limits: {name} = {value} exceeds what the arena grants, {granted[name]}")
        limits[name] = int(value)
    return limits


def _capabilities(given: object, place: Path, source: str, bundle: Path | None) -> dict[str, Any]:
    if isinstance(given, str):
        if bundle and not is_inside(os.path.join(place.relative_to(bundle), given)):
            raise BotFileError(f"{source}: capabilities: {given[:60]!r} lies outside the bundle")
        given = _report(place / given, f"{source}: capabilities")
    if not isinstance(given, dict):
        raise BotFileError(
            f"{source}: capabilities: expected a table such as {{ clocks = false }}, or the name of a JSON file"
        )
    return read_capabilities(given, source)


def _report(file: Path, source: str) -> object:
    """Return the capabilities of a JSON file: a table of them, or the report of a check. Raises BotFileError."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_CAPABILITIES_BYTES + 1)
        if len(data) > MAX_CAPABILITIES_BYTES:
            raise BotFileError(f"{source}: {file.name} is too large: at most {MAX_CAPABILITIES_BYTES:,} bytes")
        report: object = json.loads(data.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, BotFileError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise BotFileError(f"{source}: cannot read {file.name}: {reason}") from None
    return report.get("capabilities", report) if isinstance(report, dict) else report


def read_capabilities(data: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Validate capabilities from JSON or TOML and return those that differ from the defaults.

    Raises BotFileError naming the key and its allowed values.
    """
    capabilities: dict[str, Any] = {}
    usual = Capabilities.default()
    for name in (capability.name for capability in fields(Capabilities) if capability.name not in SAID):
        default = getattr(usual, name)
        value = data.get(name, default)
        allowed = _STYLES.get(name)
        if value not in allowed if allowed else type(value) is not type(default):
            values = allowed or ("true", "false") if isinstance(default, (bool, str)) else ("a number",)
            raise BotFileError(f"{source}: capability {name} = {repr(value)[:60]}; it is one of {', '.join(values)}")
        if value != default:
            capabilities[name] = value
    unknown = sorted(set(data) - {capability.name for capability in fields(Capabilities)})
    if unknown:
        raise BotFileError(
            f"{source}: unknown capability {unknown[0][:60]!r}; `arena check BOT --write-config FILE` writes them"
        )
    return capabilities
