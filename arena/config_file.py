"""Reads the settings of a server: `arena.toml` in the data folder, or the file named by `--config` or `ARENA_CONFIG`.

Its keys are the fields of `Settings`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from arena.config import PREFIX, Settings
from referee import toml
from referee.bot.input_file import refuse_special
from referee.errors import ArenaError, Exit
from referee.validation import misfits

FILE = "arena.toml"


class ConfigError(ArenaError, ValueError):
    """An invalid setting; the message names it and its source."""


def read_settings(config: Path | None = None, **given: Any) -> Settings:
    """Return the settings; `given` are the values of the command line (None: not given). Raises ConfigError.

    A file named explicitly must exist; `arena.toml` in the data folder is optional.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    named = named_file(config)
    folder = Path(chosen.get("data") or os.environ.get(f"{PREFIX}DATA") or "data").expanduser()
    file = named or folder / FILE
    table = _read(file) if named or file.exists() else {}
    try:
        return Settings.combined(chosen, table, named)
    except ValidationError as error:
        problems = []
        for fault in misfits(error, Settings):
            name = fault.field.partition(".")[0] or "settings"
            place = _place(name, chosen, file if name in table else None)
            problems.append((f"{place}: {fault.problem.replace('unknown key', 'unknown setting')}", fault.hint))
        *others, (problem, hint) = problems
        before = "".join(f"{problem}; {hint}; " if hint else f"{problem}; " for problem, hint in others)
        raise ConfigError(before + problem, hint=hint) from None
    except SettingsError as error:
        field = str(error).partition('"')[2].partition('"')[0]
        raise ConfigError(f"environment: {field} is not valid JSON", hint="write lists and tables as JSON") from None


def named_file(config: Path | None) -> Path | None:
    """Return the settings file named by `--config` or the environment; None for `arena.toml` in the data folder."""
    variable = os.environ.get(f"{PREFIX}CONFIG")
    return config or (Path(variable) if variable else None)


def _read(file: Path) -> dict[str, Any]:
    try:
        refuse_special(file)
        return toml.read(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        wrong = ConfigError(f"{file}: cannot be read: no such file", hint="check the path")
        wrong.own_exit = Exit.NOT_FOUND
        raise wrong from None
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}", hint="name another file") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not UTF-8 text", hint="check that it is the right file") from None
    except toml.TomlError as error:
        raise ConfigError(f"{file}: {error}", hint="fix the TOML syntax") from None


def _place(name: str, chosen: dict[str, Any], file: Path | None) -> str:
    if name in chosen:
        return f"--{name.replace('_', '-')}"
    variable = f"{PREFIX}{name.upper()}"
    return variable if variable in os.environ else f"{file}: {name}" if file else name


def template() -> str:
    """Return a commented `arena.toml` with every setting at its default."""
    parts = [f"# Settings of the arena. Each can also be set as {PREFIX}NAME in the environment, which wins.\n"]
    for name, field in Settings.model_fields.items():
        # Every default is written alike in JSON and in TOML.
        default = json.dumps(field.get_default(call_default_factory=True), default=str)
        parts.append(f"# {field.description}\n# {name} = {default}\n")
    return "\n".join(parts)
