"""The opening explorer: the query of a position, the moves played in it and their results."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena.documents import words
from arena.documents.archive import ArchiveItem
from arena.documents.query import Query, described, hidden, meaning
from arena.documents.words import Side

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
    key: int = hidden(0)
    """Key of the position, equal for all its symmetric images."""
