"""Uploaded texts of games, read into what the archive stores.

A stranger's text can be long, and its notation is guessed. So it is read, and the positions of its games are indexed,
in a process of its own, which is ended if it needs too much time or memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.collections.collection import Collection, GameProblem, best_reading, read_collection
from arena.collections.conversion import to_archived
from arena.collections.notation import find
from arena.collections.record_format import RECORD
from arena.offload import Bounds, call_bounded
from arena.store.archive.entry import NewArchivedGame, indexed
from referee.rules import load

BOUNDS = Bounds(cpu_s=60, memory_bytes=2**30)
"""What the reading of one uploaded text may use: a usual game takes some milliseconds."""


@dataclass(frozen=True, slots=True)
class UploadedGames:
    """The games of a text in the notation `format`, as the archive stores them, and its problems."""

    format: str
    games: Sequence[NewArchivedGame]
    problems: Sequence[GameProblem]


def read_upload(text: str, source: str, family: str, variant: str, notation: str | None) -> UploadedGames | None:
    """Read the games of a text for the collection `source`, in a notation or in the one that fits best.

    Returns None for a text without games. Raises JobError, and WorkerLostError for one that needs more than `BOUNDS`.
    """
    return call_bounded(BOUNDS, _read, text, source, family, variant, notation)


def _read(text: str, source: str, family: str, variant: str, notation: str | None) -> UploadedGames | None:
    ruleset = load(family).settle(variant)
    formats = (*ruleset.rules.formats, RECORD)
    try:
        if notation is None:
            found = best_reading(text, ruleset, formats)
        else:
            form = RECORD if notation == RECORD.name else find(ruleset.rules, notation)
            found = read_collection(text, form, ruleset)
    except ValueError:
        return None
    return uploaded(found, source)


def uploaded(found: Collection, source: str) -> UploadedGames:
    """Convert the games of a parsed text to those of the archive, with their positions."""
    games = [to_archived(one, source, found.format) for one in found.games]
    return UploadedGames(found.format, indexed(games), found.problems)
