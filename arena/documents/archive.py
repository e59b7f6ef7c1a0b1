"""The archive: its games, collections, imports, the query that searches it, and the opening explorer."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from datetime import datetime
from typing import Any, Literal

from arena.documents import words
from arena.documents.analysis import AnalysedGamesQuery
from arena.documents.query import Query, described
from arena.documents.words import Side, Winner
from referee.meaning import HIDDEN, meaning

ImportState = Literal["waiting", "done", "failed"]
HERE = "arena"
"""Source of games played here."""
# To count a fifth of a large archive took longer than all the rest of a search.
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
    id: str = field(metadata=meaning("id of a game played here; digest of the content of an imported one"))
    family: str
    variant: str
    first: str
    second: str
    winner: Winner | None = field(metadata=meaning("null: unknown"))
    termination: str
    source: str
    plies: int
    date: str = field(metadata=meaning("`2003-07-31`, `2003-07` or `2003`, as far as known; empty: unknown"))

    @property
    def is_played_here(self) -> bool:
        """True if the arena has a record of the game."""
        return self.source == HERE

    @property
    def collection(self) -> str | None:
        """The collection of an imported game; None for a game played here."""
        return None if self.is_played_here else self.source

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
    next: str | None = field(default=None, metadata=meaning("null in the last part"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveResponse(ArchiveItem):
    """A game of the archive with its moves. `position` is its start, `tags` are those of the imported text."""

    options: dict[str, Any] = field(metadata=meaning("rule options that differ from those of the variant"))
    position: str = field(metadata=meaning("empty: the start of the variant"))
    moves: list[str]
    tags: dict[str, str] = field(
        metadata=meaning("names and values, such as `Event`; of a game played here, the day alone")
    )
    notations: list[str] = field(metadata=meaning("names for the parameter `notation` of `/archive/{serial}/text`"))
    text: str = field(metadata=HIDDEN)
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

    line: int = field(metadata=meaning("counted from 1"))
    move: int = field(metadata=meaning("ply in the game, counted from 1 over both sides"))
    position: str = field(metadata=meaning("position before that move; empty: unknown"))
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import: the numbers of valid, new, known and rejected games, and the first rejected ones.

    `file` is the collection, `format` the notation.
    """

    file: str = field(metadata=meaning("name of the collection, not of a file"))
    format: str = field(metadata=meaning("empty: not determined yet"))
    games: int = field(metadata=meaning("valid games, new and known ones"))
    new: int = field(metadata=meaning("games that were not in the archive before"))
    known: int = field(metadata=meaning("games that were in the archive already"))
    rejected: int
    bad: list[RejectedGame] = field(metadata=meaning("the first rejected games, at most 1,000"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionReport(ImportReport):
    """The result of an import without a server."""

    unread: int = field(metadata=meaning("variations that could not be read and became comments"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResponse(ImportReport):
    """An import on a server: its progress, and the result so far.

    Of the `lines` of its text, the first `read` are stored. If it `failed`, the games before the `problem` are kept.
    """

    id: int
    state: ImportState = field(metadata=meaning("`waiting` until all lines are read"))
    lines: int = field(metadata=meaning("number of lines of the text"))
    read: int = field(metadata=meaning("number of lines read so far"))
    problem: str = field(metadata=meaning("empty unless `state` is `failed`"))
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


MAX_MOVES_LENGTH = 2000
"""Maximum length of the text of the moves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorerQuery(Query):
    """The position: `moves` after `position`, by default the start of the variant.

    Filters of games: a `pool`, a `bot` or one version of it, a collection (`source`; `arena` means played here), days,
    or a minimum `rating` (present mu) of both players.
    """

    variant: str | None = described("a variant of the family (default: its first)", words.VARIANT, label="Variant")
    position: str | None = described(
        "a position, in any symmetric image (default: the start)",
        {"min_length": 1, "max_length": 600},
        label="Position",
    )
    moves: str | None = described(
        "moves from that position, separated by blanks", {"max_length": MAX_MOVES_LENGTH}, label="Moves from there"
    )
    pool: str | None = described("games of one rating pool, played here", words.POOL, label="Pool")
    rating: float | None = described(
        "games in which both players have at least this strength (mu) today",
        {"ge": -1000, "le": 1000},
        label="Minimum rating of both",
    )
    bot: str | None = described("games of a bot, or of one version of it", words.WORDS, label="Bot")
    source: str | None = described("games of one collection; arena: played here", words.WORDS, label="Collection")
    since: str | None = described(
        "the first day, 2003-07-31; a month or a year will do", words.DAY, label="From", metavar="DAY"
    )
    until: str | None = described("the last day; a month or a year will do", words.DAY, label="To", metavar="DAY")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedFigures:
    """Results of games. `other` counts games without a known result; `score` is the share of points of the side to
    move.

    `rating` is the mean present mu of rated players; `performance` is the rating that such results against such
    opponents imply. `last` is the latest day, `best` the game of the strongest players.
    """

    games: int
    first: int = field(metadata=meaning("games won by the side that moved first in the game"))
    draw: int = field(metadata=meaning("drawn games"))
    second: int = field(metadata=meaning("games won by the side that moved second in the game"))
    other: int
    score: float | None = field(metadata=meaning("from 0 to 1, of games with a known result; null without any"))
    rating: float | None = field(metadata=meaning("in the pool `pool`; null: no player is rated"))
    performance: float | None = field(
        metadata=meaning("in units of `mu`; null: no opponent is rated, or no result is known")
    )
    last: str = field(metadata=meaning("`2003-07-31`, `2003-07` or `2003`; empty: unknown"))
    best: ArchiveItem | None = field(metadata=meaning("null: no games"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedMoveItem(PlayedFigures):
    """A move in the requested position. `same` are other moves that lead to the same position."""

    move: str
    shown: str = field(metadata=meaning("the same move in the usual notation of the family"))
    same: list[str] = field(metadata=meaning("in the notation of `move`"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorerResponse(PlayedFigures):
    """A position, up to symmetry, and the moves played in it, most frequent first.

    A game counts once per position and once per move. At most the latest 10,000 matching games of the archive count:
    without `total_exact` there are more.
    """

    family: str
    variant: str
    position: str = field(metadata=meaning("the requested position, not a symmetric image"))
    side: Side = field(metadata=meaning("the side to move"))
    pool: str = field(metadata=meaning("rating pool of the players' ratings"))
    total_exact: bool
    moves: list[PlayedMoveItem]
    key: int = field(default=0, metadata=HIDDEN)
    """Key of the position, equal for all its symmetric images."""
