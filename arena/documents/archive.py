"""The archive: its games, collections, imports, and the query that searches it."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from datetime import datetime
from typing import Any, Literal

from arena.documents import words
from arena.documents.analysis import AnalysedGamesQuery
from arena.documents.query import Query, described, hidden
from arena.documents.words import Winner

ImportState = Literal["waiting", "done", "failed"]
HERE = "arena"
"""Source of games played here."""
MAX_COUNTED = 10_000
"""Maximum number of games that a search or the explorer counts."""
_PLIES: words.Bounds = {"ge": 0, "le": 100_000}


def counted(total: int, is_exact: bool) -> str:
    """Format a number of games that were counted up to a limit: `427`, `more than 10,000`."""
    return f"{total:,}" if is_exact else f"more than {total:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveItem:
    """A game of the archive in a list. `serial` is its permanent number; `number` is its number in its collection, by
    default the serial.

    `source` is the collection, `arena` for games played here. `date` may be a year only.
    """

    serial: int
    number: str
    id: str
    family: str
    variant: str
    first: str
    second: str
    winner: Winner | None
    termination: str
    source: str
    plies: int
    date: str

    @property
    def is_played_here(self) -> bool:
        """True if the arena has a record of the game."""
        return self.source == HERE

    @property
    def label(self) -> str:
        """The game's number in its collection; empty if it has none."""
        return "" if self.number == str(self.serial) else self.number


@dataclass(frozen=True, slots=True)
class ArchivePage:
    """Part of the matching games, and the `total` number of matches, counted up to 10,000: without `total_exact` there
    are more. `next` is the cursor of the following part.
    """

    items: list[ArchiveItem]
    total: int
    total_exact: bool
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveResponse(ArchiveItem):
    """A game of the archive with its moves. `position` is its start, `tags` are those of the imported text."""

    options: dict[str, Any]
    position: str
    moves: list[str]
    tags: dict[str, str]
    notations: list[str]
    text: str = hidden()
    """The imported text."""


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """A collection, or `arena` for games played here, and its number of games of a variant."""

    source: str
    family: str
    variant: str
    games: int


@dataclass(frozen=True, slots=True)
class ArchiveSources:
    """All collections."""

    items: list[ArchiveSource]


@dataclass(frozen=True, slots=True)
class RejectedGame:
    """A game of an import that was rejected: its `line` in the text, the `move` number (0 before the first), and the
    reason.
    """

    line: int
    move: int
    position: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import: the numbers of valid, new, known and rejected games, and the first rejected ones.

    `file` is the collection, `format` the notation.
    """

    file: str
    format: str
    games: int
    new: int
    known: int
    rejected: int
    bad: list[RejectedGame]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResponse(ImportReport):
    """An import on a server: its progress, and the result so far.

    Of the `lines` of its text, the first `read` are stored. If it `failed`, the games before the `problem` are kept.
    """

    id: int
    state: ImportState
    lines: int
    read: int
    problem: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveQuery(AnalysedGamesQuery):
    """Filters and order of games. `moves` and `position` need a `family`. Filters by analysis, and sorting by its
    figures, leave out unanalysed games.
    """

    id: str | None = described("the ID of one game", words.WORDS)
    number: str | None = described("the game's number in the archive or in its collection", words.WORDS, label="Number")
    player: str | None = described("part of either player's name", words.WORDS, label="Player")
    family: str | None = described("a family", words.FAMILY, label="Family")
    variant: str | None = described("a variant of the family", words.VARIANT, label="Variant")
    first: str | None = described("part of the first player's name", words.WORDS)
    second: str | None = described("part of the second player's name", words.WORDS)
    name: str | None = described("the whole name of either player", words.WORDS)
    result: Literal["first", "second", "draw", "none"] | None = described(
        "the winner; none: an unknown result",
        label="Result",
        choices={"first": "first won", "second": "second won", "none": "unknown"},
    )
    ending: str | None = described("the termination, such as resigned", words.WORDS, label="Ended by")
    source: str | None = described("the collection; arena: the games played here", words.WORDS, label="Collection")
    since: str | None = described(
        "the first day, 2003-07-31; a month or a year will do", words.DAY, label="From", metavar="DAY"
    )
    until: str | None = described("the last day; a month or a year will do", words.DAY, label="To", metavar="DAY")
    min_plies: int | None = described("the minimum number of plies", _PLIES, label="Plies: minimum")
    max_plies: int | None = described("the maximum number of plies", _PLIES, label="maximum")
    moves: str | None = described(
        "the first moves (requires a family)", {"min_length": 1, "max_length": 4000}, label="First moves"
    )
    position: str | None = described(
        "a position that occurred, in any symmetric image (requires a family)",
        {"min_length": 1, "max_length": 1000},
        label="Position",
    )
    sort: Literal[
        "number", "date", "length", "blunders", "accuracy", "first_accuracy", "second_accuracy", "turning_points"
    ] = described("the order", default="number")
    order: Literal["falling", "rising"] = described("the direction of the order", default="falling")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotationQuery(Query):
    """The family's notation in which to write the game; by default the game is returned as imported."""

    notation: str | None = described("a notation of the family", words.NOTATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportQuery(Query):
    """The `family` of the games, the name of the collection (`source`), and details that the text lacks."""

    family: str = described("the family of the games", words.FAMILY, default=MISSING)
    source: str = described("the name of the collection", words.ONE_LINE, default=MISSING)
    variant: str | None = described("a variant of the family", words.VARIANT)
    notation: str | None = described("a notation of the family", words.NOTATION)
