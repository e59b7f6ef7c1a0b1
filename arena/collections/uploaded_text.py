"""Reads uploaded texts of games portion by portion, and converts them to games of the archive.

An uploaded text can be long, and its notation is guessed. So it is read, and the positions of its games are indexed,
in a process of its own, which is killed if a portion needs too much time or memory.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from arena.collections.best_reading import best_reading
from arena.collections.collection import Collection, GameProblem, pieces, read_parts, told_once
from arena.collections.conversion import to_archived
from arena.collections.recorded import RECORD
from arena.offload import Bounds, call_bounded
from arena.store.archive.entry import NewArchivedGame, indexed
from referee.rules import load

BOUNDS = Bounds(cpu_s=60, memory_bytes=2**30)
"""What the reading of one portion may use: a usual game takes some milliseconds."""
PORTION_S = 5.0
"""Processor time after which a portion ends. Portions are short because they are read again if their process dies."""
_BATCH = 100
"""Parts of a text that are read together."""
_HEAD_LINES = 2_000
"""Lines at the beginning of a text from which its notation is detected."""


@dataclass(frozen=True, slots=True)
class UploadedText:
    """A text for the collection `source`. An empty `notation` means the one that fits the text's beginning best."""

    text: str
    source: str
    family: str
    variant: str
    notation: str = ""

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())


@dataclass(slots=True)
class UploadedGames:
    """The games of a portion of a text, as the archive stores them, and the problems found in it.

    `format` is the notation of the text. The next portion begins after line `end`.
    """

    format: str
    games: list[NewArchivedGame] = field(default_factory=list)
    problems: list[GameProblem] = field(default_factory=list)
    end: int = 0


def read_portion(upload: UploadedText, after: int) -> UploadedGames:
    """Read the next games of a text after its first `after` lines, in a process that ends afterwards.

    Raises JobError, and WorkerLostError for a portion that needs more than `BOUNDS`.
    """
    return call_bounded(BOUNDS, _read, upload, after, PORTION_S)


def _read(upload: UploadedText, after: int, portion_s: float) -> UploadedGames:
    os.setpriority(os.PRIO_PROCESS, 0, 10)  # bots have precedence
    ruleset = load(upload.family).settle(upload.variant)
    forms = (*ruleset.rules.formats, RECORD)
    portion = UploadedGames(upload.notation, end=upload.lines)
    if not portion.format:
        head = "".join(upload.text.splitlines(keepends=True)[after : after + _HEAD_LINES])
        with suppress(ValueError):  # no game in any notation
            portion.format = best_reading(head, ruleset, forms).format
    if not portion.format:
        return portion
    form, begin = next(form for form in forms if form.name == portion.format), time.process_time()
    parts, whole = pieces(upload.text, form, ruleset, after), Collection(portion.format)
    while batch := list(islice(parts, _BATCH)):
        read = read_parts(batch, form, ruleset)
        portion.games += uploaded(read, upload.source).games
        whole.add(read)
        if time.process_time() - begin > portion_s and (rest := next(parts, None)) is not None:
            portion.end = rest[0] - 1
            break
    with suppress(ValueError):  # the portion has no game
        portion.problems = told_once(whole, upload.text).problems
    return portion


def uploaded(found: Collection, source: str) -> UploadedGames:
    """Convert the games of a parsed text to those of the archive, with their positions."""
    games = [to_archived(one, source, found.format) for one in found.games]
    return UploadedGames(found.format, indexed(games), found.problems)
