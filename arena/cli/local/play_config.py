"""`arena play --config FILE.toml`: a whole match as a file. Its keys are the options, its `bots` are a list.

The file is translated to arguments, which are parsed before those of the command line, so that the latter have
priority. Nothing slow is imported here, so that invalid files are rejected at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.cli.terminal.exit import CommandError
from arena.errors import did_you_mean, near

EXAMPLE = """\
# arena play --config match.toml --games 20      options given here override the file
bots = ["new=./mybot", "old=./mybot-1.0;tc=5+0.05", "sample:alphabeta"]
family = "loa"
variant = "scrambled-eggs"
tc = "40/60+0.5"
games = 100
openings = "random:6:1"
concurrency = 2
out = "runs/first"
rating-interval = 20
draw = { after = 40, moves = 8, score = 10 }

[each]                      # of all bots; a bot's own settings win
option.Hash = 64
option.Threads = 1
"""
"""An example, shown by `--help` and the documentation; a test plays it."""

BOTS = "bots"
_OF_BOT = ("bot", "name", "tc", "option")
_JOINED = frozenset({"sprt", "draw", "resign"})
"""Options whose value is `key=value,key=value`: a table in a file."""
_NOT_IN_FILES = frozenset({"config", "run"})


def preset(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace | None:
    """Return the settings of the file that `--config` names in `words`, parsed by `parser`; None without `--config`.

    Raises CommandError naming the file and the key, OSError.
    """
    finder = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    finder.add_argument("--config", type=Path)
    try:
        path = finder.parse_known_args(list(words))[0].config
    except argparse.ArgumentError:
        return None  # the parser itself says what is wrong
    if path is None:
        return None
    from referee.machine.toml import TomlError, read

    try:
        table = read(path.read_text(encoding="utf-8"))
        known = vars(parser.parse_known_args([], argparse.Namespace())[0])
        bots = _bots(table.pop(BOTS, []))
        namespace, _ = parser.parse_known_args(list(_words(table, known)), argparse.Namespace())
    except (CommandError, TomlError) as error:
        raise CommandError(f"{path}: {error}") from None
    namespace.bots_of_file = bots
    return namespace


def _words(table: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    """Translate the file to arguments of the command line; `known` are the options with defaults. Raises CommandError.

    A list is for an option that may be repeated, a table for an option whose values are `key=value`.
    """
    names = [*(name.replace("_", "-") for name in known if name not in _NOT_IN_FILES), BOTS]
    for key, value in table.items():
        name = key.replace("_", "-")
        if name not in names:
            advice = did_you_mean(near(name, names)) or f"keys are {', '.join(sorted(names))}"
            raise CommandError(f'unknown key "{key}"; {advice}')
        default = known[name.replace("-", "_")]
        if isinstance(default, bool):
            if not isinstance(value, bool):
                raise CommandError(f"{key}: expected true or false")
            yield from [f"--{name}"] * value
        elif isinstance(default, list):
            for part in [value] if isinstance(value, str) else value if isinstance(value, list) else _pairs(key, value):
                yield f"--{name}={_text(key, part)}"
        elif name in _JOINED and isinstance(value, Mapping):
            yield f"--{name}={','.join(_pairs(key, value))}"
        else:
            yield f"--{name}={_text(key, value)}"


def _pairs(key: str, value: object, prefix: str = "") -> Iterator[str]:
    """Yield the entries of a table as `key=value`, those of an inner table as `inner.key=value`."""
    if not isinstance(value, Mapping):
        raise CommandError(f'{key}: expected a table or a list of texts such as "name=value"')
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _pairs(key, inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}={_quoted(_text(f'{key}.{name}', inner))}"


def _text(key: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    raise CommandError(f"{key}: expected a text or a number")


def _quoted(value: str) -> str:
    """Quote a value that contains a semicolon."""
    if ";" not in value:
        return value
    return f"'{value}'" if '"' in value else f'"{value}"'


def _bots(value: object) -> list[str]:
    """Translate bots to arguments: texts are kept, a table becomes one text. Raises CommandError.

    A table is `{ bot = "./mybot", name = "new", tc = "5+0.05", option.Hash = 64 }`.
    """
    if not isinstance(value, list):
        raise CommandError('bots: expected a list, such as ["./mybot", "sample:greedy"]')
    return [one if isinstance(one, str) else _bot(one, number) for number, one in enumerate(value, 1)]


def _bot(table: object, number: int) -> str:
    key = f"bots, number {number}"
    if not isinstance(table, Mapping) or not isinstance(table.get("bot"), str):
        raise CommandError(f'{key}: expected a text such as "./mybot", or a table with "bot"')
    for name in table:
        if name not in _OF_BOT:
            advice = did_you_mean(near(name, _OF_BOT)) or f"keys are {', '.join(_OF_BOT)}"
            raise CommandError(f'{key}: unknown key "{name}"; {advice}')
    head = f"{_text(key, table['name'])}=" if "name" in table else ""
    settings = {name: table[name] for name in ("tc", "option") if name in table}
    return ";".join([f"{head}{table['bot']}", *_pairs(key, settings)])


def gather(arguments: argparse.Namespace) -> None:
    """Collect the bots: those of the command line, also where the parser took them for values of `--each`, else those
    of the file.

    `arguments.bots` and `arguments.each` are then lists of texts. Raises CommandError where bots or the family are
    missing.
    """
    from referee.bot.settings import is_setting

    each: list[str] = []
    typed = list(getattr(arguments, BOTS, []))
    for group in arguments.each:
        count = 1 + next((place for place, word in enumerate(group[1:]) if not is_setting(word)), len(group) - 1)
        each += group[:count]
        typed += group[count:]
    arguments.each = each
    arguments.bots = typed or getattr(arguments, "bots_of_file", [])
    missing = [*(["BOT"] if not arguments.bots else []), *(["--family"] if arguments.family is None else [])]
    if missing:
        raise CommandError(f'missing {", ".join(missing)}; see "arena play --help"')
