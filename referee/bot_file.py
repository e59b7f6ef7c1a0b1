"""A bot written down: a folder with a `bot.toml`, or any file `NAME.toml` of the same form.

name = "natsel"
command = ["./natsel", "--quiet"]
folder = "/opt/natsel"             # where it runs; the file's own folder unless named
[options]                          # set before every game
threads = 2
[capabilities]                     # what `arena check BOT --family F --save FILE` found; or the name of a JSON file
clocks = false
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from protocol.capabilities import Capabilities
from referee import toml
from referee.spec import BotSpec

FILE = "bot.toml"
SAID = frozenset({"families", "name", "author", "options", "result"})
"""What the handshake of every game tells anew: not written down."""
_STYLES = {"query": ("none", "response", "bare"), "setoption": ("standard", "bare")}


def read_bot_file(path: Path) -> BotSpec:
    """The bot of a folder with a `bot.toml`, or of such a file. Raises ValueError naming the file and the key."""
    file = path / FILE if path.is_dir() else path
    try:
        data = toml.read(file.read_text(encoding="utf-8"))
    except OSError:
        raise ValueError(f"{path}: a folder is a bot only with a {FILE} (name, command) in it") from None
    except (toml.TomlError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: {error}") from None
    command = data.get("command")
    if isinstance(command, str):
        command = shlex.split(command)
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        raise ValueError(f'{file}: needs a command, such as command = ["./mybot"]')
    options = data.get("options", {})
    if not isinstance(options, dict):
        raise ValueError(f"{file}: options must be a table of names and values")
    return BotSpec(
        str(data.get("name", "")),
        tuple(command),
        str((file.parent / str(data.get("folder", "."))).resolve()),
        capabilities=_capabilities(data.get("capabilities", {}), file),
        options=tuple((str(name), _word(value)) for name, value in options.items()),
    )


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


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
    """The probed capabilities of a JSON or TOML table, unusual ones only. Raises ValueError naming key and values."""
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
        raise ValueError(f"{source}: unknown capability {unknown[0]!r}; `arena check BOT --save FILE` writes them")
    return found


def write_bot_file(spec: BotSpec) -> str:
    """The text of a bot's file; a command without a folder keeps the present one."""

    def shown(value: object) -> str:
        return json.dumps(value, ensure_ascii=False)

    lines = [f"name = {shown(spec.name)}"] if spec.name else []
    lines += [f"command = {shown(list(spec.command))}", f"folder = {shown(spec.folder or str(Path.cwd()))}"]
    if spec.options:
        lines += ["", "[options]", *(f"{shown(name)} = {shown(value)}" for name, value in spec.options)]
    lines += ["", "[capabilities]"]
    lines += [f"{name} = {shown(value)}" for name, value in read_capabilities(spec.capabilities, "the bot").items()]
    return "\n".join(lines) + "\n"
