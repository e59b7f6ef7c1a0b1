"""Reads uploaded texts of games in a process of its own, which is ended if it needs too much time or memory.

A stranger's text can be long, and its notation is guessed: the process that answers requests must not read it.
"""

from __future__ import annotations

from arena.collections.collection import Collection, best_reading, read_collection
from arena.collections.notation import find
from arena.collections.record_format import RECORD
from arena.offload import Bounds, call_bounded
from referee.rules import load

BOUNDS = Bounds(cpu_s=60, memory_bytes=2**30)
"""What the reading of one text may use: a usual game takes some milliseconds."""


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
