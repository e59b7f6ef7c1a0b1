"""Writes games in the notations of their family."""

from __future__ import annotations

from typing import Any

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
