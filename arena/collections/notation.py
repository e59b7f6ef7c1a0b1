"""Games in the notations of their family: written, and read from uploaded texts.

A stranger's text can be long, and its notation is guessed. So it is read in a process of its own, which is ended if it
needs too much time or memory.
"""

from __future__ import annotations

from typing import Any

from arena.collections.collection import Collection, best_reading, read_collection
from arena.collections.record_format import RECORD
from arena.offload import Bounds, call_bounded
from referee.game.record import GameRecord
from referee.rules import load
from referee.rules.core import UnknownNameError
from referee.rules.rules import GameFormat, GameText, Rules, Ruleset

BOUNDS = Bounds(cpu_s=60, memory_bytes=2**30)
"""What the reading of one uploaded text may use: a usual game takes some milliseconds."""
RESULTS = {"first": "1-0", "second": "0-1", "draw": "1/2-1/2", None: "*"}


def find(rules: Rules, name: str) -> GameFormat:
    """Return the notation with that name. Raises UnknownNameError with the known ones."""
    for form in rules.formats:
        if form.name == name:
            return form
    raise UnknownNameError(f"notation of {rules.family}", name, tuple(form.name for form in rules.formats))


def write(form: GameFormat, ruleset: Ruleset, position: str, moves: tuple[str, ...], **about: Any) -> str:
    """Return a game from `position` as text; `about` holds its `tags`, `result` and so on.

    Raises ValueError for tags that the notation cannot express.
    """
    variant = ruleset.rules.variant(ruleset.variant.name)
    start = None if position == ruleset.write(ruleset.read()) else position
    game = GameText(moves, variant.name, ruleset.overrides, start, **about)
    return form.write(game, ruleset)


def write_record(record: GameRecord, name: str) -> str:
    """Return a record in a notation of its family, by name. Raises UnknownNameError."""
    ruleset = load(record.family).settle(record.variant, record.options)
    tags = {"First": record.first, "Second": record.second, "Date": record.started[:10], "Id": record.id}
    tags = {name: value for name, value in tags.items() if value}
    form = find(ruleset.rules, name)
    about = {"tags": tags, "result": RESULTS[record.winner], "marks": record.marks, "comments": record.comments}
    return write(form, ruleset, record.position, record.moves, **about)


def read_upload(text: str, family: str, variant: str, notation: str | None) -> Collection | None:
    """Read the games of a text, in a notation or in the one that fits best; return None for a text without any.

    Raises JobError, and WorkerLostError for a text that needs more than `BOUNDS`.
    """
    return call_bounded(BOUNDS, _read, text, family, variant, notation)


def _read(text: str, family: str, variant: str, notation: str | None) -> Collection | None:
    ruleset = load(family).settle(variant)
    formats = (*ruleset.rules.formats, RECORD)
    try:
        if notation is None:
            return best_reading(text, ruleset, formats)
        return read_collection(text, RECORD if notation == RECORD.name else find(ruleset.rules, notation), ruleset)
    except ValueError:
        return None
