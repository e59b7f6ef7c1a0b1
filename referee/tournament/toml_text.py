"""Settings documents written as TOML: only keys that differ from their defaults; and a commented example of each
format.

The text can be read again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from referee.rules import families
from referee.tournament.document import Document
from referee.tournament.formats import format_named, names

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ALWAYS = ("name", "family", "format", "time_control")
"""Keys that are written even with their default."""


def as_toml(document: Document) -> str:
    """Return the document as TOML, as organisers would write it."""
    chosen = document.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    whole = document.as_json()
    chosen |= {name: whole[name] for name in _ALWAYS}
    if document.schedule is not None:
        chosen["schedule"] = {name: value for name, value in whole["schedule"].items() if value is not None}
    ordered = {name: chosen[name] for name in Document.model_fields if name in chosen}
    lines = [f"{_key(name)} = {_value(value)}" for name, value in ordered.items() if not _is_table(name, value)]
    for name, value in ordered.items():
        if name == "handicaps":
            for handicap in value:
                lines += ["", f"[[{name}]]", *_pairs(handicap)]
        elif _is_table(name, value) and value:
            lines += ["", f"[{name}]", *_pairs(value)]
    return "\n".join(lines) + "\n"


def _is_table(name: str, value: Any) -> bool:
    return isinstance(value, dict) or name == "handicaps"


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(name)} = {_value(value)}" for name, value in table.items()]


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        items = [_value(item) for item in value]
        return f"[{', '.join(items)}]" if sum(map(len, items)) < 90 else "[\n    " + ",\n    ".join(items) + ",\n]"
    if isinstance(value, dict):
        return "{" + ", ".join(_pairs(value)) + "}"
    return repr(value)


def _text(text: str) -> str:
    """Quote a string as JSON does, and escape U+007F, which only TOML requires."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


_HEAD = """\
# {title}
# Check it:  arena tournament create FILE --check       Create it:  arena tournament create FILE
# Commented-out keys show defaults or examples; /docs/reference/tournament-files/ describes every key.

name = {name:<28}# title
family = {family:<26}# "arena rules list" shows families, variants and options
# variant = "standard"             # default: the family's first
format = {quoted:<26}# or {others}
"""

_TAIL = """
time_control = "5+0.05"            # seconds and increment; or "40/60", "1/move", "depth:4", "nodes:10000"
# openings = "random:4:1"          # "none", "random:PLIES:SEED", "setups:VARIANT:SEED", "fair:0.05", "auto"
# seed = 1                         # the same seed gives the same pairings and openings
# rated = false                    # true: update ratings
# priority = 10                    # games of a higher priority are played first; default: 0
# start_time = 2027-01-31T20:00:00Z  # default: immediately

# [adjudication]                   # games that end before the rules end them
# draw = "after=40,moves=8,score=10"
# resign = "moves=4,score=600,both=1"
# max_plies = 400

# [schedule]                       # a recurring tournament: leave start_time out
# cron = "0 20 * * 5"              # minute, hour, day, month, weekday: Fridays at 20:00
# timezone = "Europe/Paris"
"""

_NAMED = """
[entries]
bots = ["greedy", "random", "alphabeta"]   # a name is its newest active version; "greedy v1" is that one
# top = 8                          # or: the best bots of the leaderboard
# newest = true                    # or: the newest version of every bot
# exclude = ["random"]             # bots that top, newest and all must not enter
"""


def example(name: str) -> str:
    """Return the example of a format. It is valid without changes on a server that has the sample bots."""
    system = format_named(name)
    keys, bracket, tables = system.example.partition("\n[")
    others = ", ".join(other for other in names() if other != name)
    purpose = system.purpose[:1].upper() + system.purpose[1:]
    head = _HEAD.format(
        title=f"{purpose}.", name=f'"My {name}"', family=f'"{families()[0]}"', quoted=f'"{name}"', others=others
    )
    return f"{head}{keys}{_TAIL}{system.example_entries or _NAMED}{bracket}{tables}"
