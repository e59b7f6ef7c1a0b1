"""Reads `bot.toml`, the manifest of a bundle: name, families, command, options and limits.

```toml
name = "zeta"                    # optional
families = ["loa", "tablut"]     # optional if given with the upload
command = ["./zeta", "--fast"]   # or one string, split as by a shell
options = { Hash = 64 }          # UGI options set before every game
limits = { memory_bytes = 5e8 }  # needs of the bot; refused if they exceed what the arena grants
capabilities = { clocks = false } # optional: validated, otherwise ignored, as the arena's check finds them
```
"""

from __future__ import annotations

import os
import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from arena.submission.unpack import SINGLE, Contents
from referee.bot.bridge import FAMILY, bridged, is_bridge
from referee.bot.file import read_capabilities
from referee.game.spec import BotLimits
from referee.machine import toml
from referee.rules import families
from referee.rules.core import value_text

FILE = "bot.toml"
KEYS = ("name", "families", "command", "options", "limits", "description", "capabilities")
REMARKS = ("author", "version", "license", "url")
"""Keys that are allowed and ignored."""
NEEDS = ("start_ms", "ready_ms", "move_ms", "quit_ms", "memory_bytes", "processes")
_MAX_FILE = 64 * 1024
_MAX_WORDS, _MAX_WORD = 32, 500
_MAX_OPTIONS = 64
_TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
"""Bidirectional classes of characters that change the direction of text."""


class ManifestError(ValueError):
    """An invalid manifest; the message names the key and says what to write."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The command of a bundle, its families, options and limits."""

    command: tuple[str, ...]
    name: str = ""
    families: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    description: str = ""


def read_manifest(contents: Contents) -> Manifest:
    """Read the manifest of an unpacked bundle; a single executable needs none. Raises ManifestError.

    The manifest is read once, at the upload, and stored with the version.
    """
    if contents.kind in ("executable", "script"):
        return Manifest((f"./{SINGLE}",))
    file = contents.folder / FILE
    try:
        if file.stat().st_size > _MAX_FILE:
            raise ManifestError(f"{FILE}: too large: at most {_MAX_FILE:,} bytes")
        table = toml.read_plain(file.read_text(encoding="utf-8"), max_bytes=_MAX_FILE)
    except FileNotFoundError:
        seen = ", ".join(contents.files[:5])
        raise ManifestError(f"missing {FILE} in the bundle, which has {seen}; add one with a command") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{FILE}: expected UTF-8 text") from None
    except toml.TomlError as error:
        raise ManifestError(f"{FILE}: {error}") from None
    except IsADirectoryError:
        raise ManifestError(f"{FILE} is a folder") from None
    return _manifest(table, contents.folder)


def read_families(names: Any, place: str) -> tuple[str, ...]:
    """Return the families of these names without duplicates. Raises ManifestError naming the known ones."""
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ManifestError(f'{place}: write a list of names, such as ["FAMILY"]')
    known = families()
    for name in names:
        if name not in known:
            raise ManifestError(f"{place}: unknown family {name[:60]!r}; choose from {', '.join(known)}")
    return tuple(dict.fromkeys(names))


def _manifest(table: Mapping[str, Any], folder: Path) -> Manifest:
    for key in table:
        if key not in KEYS + REMARKS:
            raise ManifestError(f"{FILE}: unknown key {key[:60]!r}; choose from {', '.join(KEYS + REMARKS)}")
    name, description = table.get("name", ""), table.get("description", "")
    if not isinstance(name, str) or not isinstance(description, str):
        raise ManifestError(f"{FILE}: name and description must be strings")
    if any(_is_hidden(letter) for letter in description):
        raise ManifestError(
            f"{FILE}: description: remove control characters and characters that change the text direction"
        )
    _check_capabilities(table.get("capabilities", {}))
    return Manifest(
        command=_command(table.get("command"), folder),
        name=name,
        families=read_families(table.get("families", []), f"{FILE}: families"),
        options=_options(table.get("options", {})),
        limits=_limits(table.get("limits", {})),
        description=description[:1000],
    )


def _is_hidden(letter: str) -> bool:
    is_control = unicodedata.category(letter) == "Cc" and letter not in "\n\t"
    return is_control or unicodedata.bidirectional(letter) in _TURNING


def _check_capabilities(given: Any) -> None:
    """Raise ManifestError for a table of capabilities that `arena check` cannot have written.

    The name of a JSON file may replace the table, as in local runs; the file is not checked here.
    """
    if isinstance(given, str):
        return
    if not isinstance(given, dict):
        raise ManifestError(f"{FILE}: capabilities: expected a table such as {{ clocks = false }}")
    try:
        read_capabilities(given, FILE)
    except ValueError as error:
        raise ManifestError(str(error)[:400]) from None


def _command(given: Any, folder: Path) -> tuple[str, ...]:
    if isinstance(given, str):
        try:
            given = shlex.split(given)
        except ValueError as error:
            raise ManifestError(f"{FILE}: command: {error}; quote it as in a shell") from None
    if not isinstance(given, list) or not given or not all(isinstance(word, str) for word in given):
        raise ManifestError(f'{FILE}: missing command: add one, such as command = ["./mybot"]')
    if len(given) > _MAX_WORDS or any(len(word) > _MAX_WORD or not word.isprintable() for word in given):
        raise ManifestError(f"{FILE}: command: expected at most {_MAX_WORDS} printable words of {_MAX_WORD} characters")
    for word in given:
        if any(_leaves(piece) for piece in re.split("[=:,]", word)):
            raise ManifestError(f"{FILE}: command: {word!r} lies outside the bundle; a bot sees only its bundle")
    return _bridge_command(given, folder) if is_bridge(given) else _program_command(given, folder)


def _bridge_command(given: list[str], folder: Path) -> tuple[str, ...]:
    """Return the command that runs a bridge; the program that it starts becomes executable. Raises ManifestError."""
    try:
        command = bridged(given, FAMILY, "python")
    except ValueError as error:
        raise ManifestError(f"{FILE}: command: {error}"[:400]) from None
    for program in programs_of(command):
        make_executable(folder, program)
    return command


def _program_command(given: list[str], folder: Path) -> tuple[str, ...]:
    """Return the command that runs a program of the bundle or of the system. Raises ManifestError."""
    program = given[0]
    if "/" not in program:
        if (folder / program).is_file():
            program = f"./{program}"
        else:
            return tuple(given)  # a system program, such as python3
    if program.startswith("/"):
        return tuple(given)
    target = (folder / program).resolve()
    if not target.is_relative_to(folder.resolve()) or not target.is_file():
        raise ManifestError(f"{FILE}: command: no file {program!r} in the bundle")
    make_executable(folder, program)
    return (program, *given[1:])


def programs_of(command: Sequence[str]) -> tuple[str, ...]:
    """Return the programs that a command names: its own, and the one that a bridge starts."""
    behind = command[command.index("--") + 1 :][:1] if "--" in command else ()
    return (*command[:1], *behind)


def _leaves(path: str) -> bool:
    """Return whether a relative path leads out of the bundle."""
    return not path.startswith("/") and os.path.normpath(path).split("/")[0] == ".."


def make_executable(folder: Path, program: str) -> None:
    """Make the bundle's program executable: archives from other systems may lack the permission."""
    target = (folder / program).resolve()
    if target.is_relative_to(folder.resolve()) and target.is_file() and not target.stat().st_mode & 0o100:
        target.chmod(0o555)


def _options(given: Any) -> dict[str, str]:
    if not isinstance(given, dict) or len(given) > _MAX_OPTIONS:
        raise ManifestError(f"{FILE}: options: expected a table of at most {_MAX_OPTIONS} names and values")
    found = {}
    for name, value in given.items():
        if not isinstance(value, (str, int, float)):
            raise ManifestError(f"{FILE}: option {name[:60]!r}: write a text, a number, true or false")
        word = value_text(value)
        if not (name.isprintable() and word.isprintable()) or len(name) > _MAX_WORD or len(word) > _MAX_WORD:
            raise ManifestError(f"{FILE}: option {name[:60]!r}: expected one line of at most {_MAX_WORD} characters")
        found[name] = word
    return found


def _limits(given: Any) -> dict[str, int]:
    if not isinstance(given, dict):
        raise ManifestError(f"{FILE}: limits: expected a table of names and numbers")
    offered = asdict(BotLimits())
    found = {}
    for name, value in given.items():
        if name not in NEEDS:
            raise ManifestError(f"{FILE}: unknown limit {name[:60]!r}; choose from {', '.join(NEEDS)}")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 2**62:
            raise ManifestError(f"{FILE}: limits: {name} must be a positive number")
        if value > offered[name]:
            raise ManifestError(f"{FILE}: limits: {name} = {value} exceeds what the arena grants, {offered[name]}")
        found[name] = int(value)
    return found
