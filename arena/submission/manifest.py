"""What a bundle says of itself: `bot.toml` with name, families, command, options and limits.

```toml
name = "zeta"                    # optional
families = ["loa", "tablut"]     # optional when given with the upload
command = ["./zeta", "--fast"]   # or one text, split as a shell would
options = { Hash = 64 }          # UGI options set before every game
limits = { memory_bytes = 5e8 }  # what the bot needs; refused when it is more than the arena gives
capabilities = { clocks = false } # optional: read, checked and left alone, the arena finds them out itself
```
"""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from arena.submission.unpack import SINGLE, Contents
from referee.bot.bridge import FAMILY, bridged, is_bridge
from referee.bot.file import read_capabilities
from referee.game.spec import BotLimits
from referee.machine import toml
from referee.rules import families

FILE = "bot.toml"
KEYS = ("name", "families", "command", "options", "limits", "description", "capabilities")
REMARKS = ("author", "version", "license", "url")
"""Allowed, and not looked at."""
NEEDS = ("start_ms", "ready_ms", "move_ms", "quit_ms", "memory_bytes", "processes")
_MAX_FILE = 64 * 1024
_MAX_WORDS, _MAX_WORD = 32, 500
_MAX_OPTIONS = 64
_TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
"""Kinds of characters that turn the direction of what follows."""


class ManifestError(ValueError):
    """A bundle that does not say how to run it; the message names the key and says what to write."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """How to run a bundle, and for what."""

    command: tuple[str, ...]
    name: str = ""
    families: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    description: str = ""


def read_manifest(contents: Contents) -> Manifest:
    """The manifest of what was unpacked; a single executable needs none. Raises ManifestError.

    Read once, when the bundle comes in: what it says is stored with the version.
    """
    if contents.kind in ("executable", "script"):
        return Manifest((f"./{SINGLE}",))
    file = contents.folder / FILE
    try:
        if file.stat().st_size > _MAX_FILE:
            raise ManifestError(f"{FILE}: longer than {_MAX_FILE:,} bytes")
        table = toml.read_plain(file.read_text(encoding="utf-8"), max_bytes=_MAX_FILE)
    except FileNotFoundError:
        seen = ", ".join(contents.files[:5])
        raise ManifestError(f"no {FILE} in the bundle (it has {seen}); write one with a command") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{FILE}: not UTF-8 text") from None
    except toml.TomlError as error:
        raise ManifestError(f"{FILE}: {error}") from None
    except IsADirectoryError:
        raise ManifestError(f"{FILE} is a folder") from None
    return _manifest(table, contents.folder)


def read_families(names: Any, place: str) -> tuple[str, ...]:
    """Families by name, each once. Raises ManifestError naming the known ones."""
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ManifestError(f'{place}: write a list of names, such as ["FAMILY"]')
    known = families()
    for name in names:
        if name not in known:
            raise ManifestError(f"{place}: no family {name[:60]!r}; there are {', '.join(known)}")
    return tuple(dict.fromkeys(names))


def _manifest(table: Mapping[str, Any], folder: Path) -> Manifest:
    for key in table:
        if key not in KEYS + REMARKS:
            raise ManifestError(f"{FILE}: no key {key[:60]!r} is known; there are {', '.join(KEYS + REMARKS)}")
    name, description = table.get("name", ""), table.get("description", "")
    if not isinstance(name, str) or not isinstance(description, str):
        raise ManifestError(f"{FILE}: name and description are texts")
    if any(_is_hidden(letter) for letter in description):
        raise ManifestError(f"{FILE}: description: no NUL and no other characters that control or turn text")
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
    """Refuse what `arena check --save` would not have written. A name of a JSON file, as local runs know it, passes."""
    if isinstance(given, str):
        return
    if not isinstance(given, dict):
        raise ManifestError(f"{FILE}: capabilities: a table such as {{ clocks = false }}")
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
        raise ManifestError(f'{FILE}: needs a command, such as command = ["./mybot"]')
    if len(given) > _MAX_WORDS or any(len(word) > _MAX_WORD or not word.isprintable() for word in given):
        raise ManifestError(f"{FILE}: command: at most {_MAX_WORDS} printable words of {_MAX_WORD} characters")
    if is_bridge(given):
        try:
            return bridged(given, FAMILY, "python")
        except ValueError as error:
            raise ManifestError(f"{FILE}: command: {error}"[:400]) from None
    program = given[0]
    if "/" not in program:
        if (folder / program).is_file():
            program = f"./{program}"
        else:
            return tuple(given)  # a program of the system, such as python3
    if program.startswith("/"):
        return tuple(given)
    target = (folder / program).resolve()
    if not target.is_relative_to(folder.resolve()) or not target.is_file():
        raise ManifestError(f"{FILE}: command: there is no file {program!r} in the bundle")
    make_executable(folder, program)
    return (program, *given[1:])


def make_executable(folder: Path, program: str) -> None:
    """Let the bundle's own program be run: archives made on other systems know no executable files."""
    target = (folder / program).resolve()
    if target.is_relative_to(folder.resolve()) and target.is_file() and not target.stat().st_mode & 0o100:
        target.chmod(0o555)


def _options(given: Any) -> dict[str, str]:
    if not isinstance(given, dict) or len(given) > _MAX_OPTIONS:
        raise ManifestError(f"{FILE}: options: a table of at most {_MAX_OPTIONS} names with values")
    found = {}
    for name, value in given.items():
        if not isinstance(value, (str, int, float)):
            raise ManifestError(f"{FILE}: option {name[:60]!r}: write a text, a number, true or false")
        word = str(value).lower() if isinstance(value, bool) else str(value)
        if not (name.isprintable() and word.isprintable()) or len(name) > _MAX_WORD or len(word) > _MAX_WORD:
            raise ManifestError(f"{FILE}: option {name[:60]!r}: one line of at most {_MAX_WORD} characters")
        found[name] = word
    return found


def _limits(given: Any) -> dict[str, int]:
    if not isinstance(given, dict):
        raise ManifestError(f"{FILE}: limits: a table of names with numbers")
    offered = asdict(BotLimits())
    found = {}
    for name, value in given.items():
        if name not in NEEDS:
            raise ManifestError(f"{FILE}: no limit {name[:60]!r}; there are {', '.join(NEEDS)}")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 2**62:
            raise ManifestError(f"{FILE}: limits: {name} is a positive number")
        if value > offered[name]:
            raise ManifestError(f"{FILE}: limits: the bot needs {name} = {value}, the arena gives {offered[name]}")
        found[name] = int(value)
    return found
