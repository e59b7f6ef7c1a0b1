"""Writes games in the notations of their family, and names texts that none of them reads."""

from __future__ import annotations

import re
from typing import Any, Final

from referee.game.record import GameRecord
from referee.rules import load
from referee.rules.core import UnknownNameError
from referee.rules.rules import GameFormat, GameText, Rules, Ruleset

RESULTS = {"first": "1-0", "second": "0-1", "draw": "1/2-1/2", None: "*"}


def find(rules: Rules, name: str) -> GameFormat:
    """Return the notation with that name. Raises UnknownNameError, which lists the known notations."""
    for form in rules.formats:
        if form.name == name:
            return form
    raise UnknownNameError(f"notation of {rules.family}", name, tuple(form.name for form in rules.formats))


def write(form: GameFormat, ruleset: Ruleset, position: str, moves: tuple[str, ...], **about: Any) -> str:
    """Return a game that starts from `position` as text; `about` holds its `tags`, `result` and so on.

    Raises ValueError for tags that the notation cannot express.
    """
    variant = ruleset.rules.variant(ruleset.variant.name)
    start = None if position == ruleset.write(ruleset.read()) else position
    game = GameText(moves, variant.name, ruleset.overrides, start, **about)
    return form.write(game, ruleset)


def write_record(record: GameRecord, name: str) -> str:
    """Return a record as text in the named notation of its family. Raises UnknownNameError."""
    ruleset = load(record.family).settle(record.variant, record.options)
    tags = {"First": record.first, "Second": record.second, "Date": record.started[:10], "Id": record.id}
    tags = {name: value for name, value in tags.items() if value}
    form = find(ruleset.rules, name)
    about = {"tags": tags, "result": RESULTS[record.winner], "marks": record.marks, "comments": record.comments}
    about["variations"] = record.variations
    return write(form, ruleset, record.position, record.moves, **about)


_FORMATS: Final = (
    (r"(?s)\s*\(\s*;.{0,2000}?GM\[((?!9\])[0-9]+)\]", r"SGF of another game, GM[\1]"),
    (r"\s*(?i:<!DOCTYPE|<html|<\?xml|<[a-z]+[ >])", "a page of the web: copy only the text of the game"),
    (r"%PDF-|PK\x03\x04|\x1f\x8b|\ufffd", "a file of another kind, not a text"),
    (r"(?s).*?\b1\.\s*(?:e4|d4|Nf3|c4)\s+(?:[a-h][1-8]|[KQRBN][a-h]?x?[a-h][1-8])\b", "PGN of chess"),
    (r"game=/lud/", "a trial of Ludii"),
    (r"VariantFile=", "a game saved by Zillions of Games"),
    (r"(?s).*?\bGameType\.long_name\b", "a playthrough of OpenSpiel"),
    (r"""\s*(?:\[\s*)?\{\s*["']""", "JSON without a record of a game"),
    (
        r"(?s).*?\b(?:Hello from [A-Z]+-[A-Z]+|Turn [0-9]+ / player |Accensione server|sys\.version\b)",
        "the log of a program without a game",
    ),
)
_LOOKED_AT: Final = 20_000
"""Characters at the beginning of a text that are looked at."""


def other_format(text: str) -> str:
    """Return the name of what a text looks like, "" if it looks like nothing known."""
    matches = ((re.match(pattern, text[:_LOOKED_AT]), name) for pattern, name in _FORMATS)
    return next((match.expand(name) for match, name in matches if match is not None), "")
