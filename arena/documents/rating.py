"""Ratings: pools, leaderboards, changes by game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, replace
from datetime import datetime
from heapq import nsmallest
from typing import Literal

from arena.documents import words
from arena.documents.query import PageQuery, PageResponse, described
from referee.meaning import HIDDEN, meaning


@dataclass(frozen=True, slots=True)
class PoolItem:
    """A set of comparable ratings, and its number of rated games."""

    pool: str
    family: str
    games: int


@dataclass(frozen=True, slots=True)
class LeaderboardLine:
    """A version's line in a leaderboard. `rank` is null while the rating is provisional; `place` counts all lines.

    `conservative` = mu - 3 sigma is the sort key. `beats_next` is the probability of being stronger than the next
    version. `opponents` is the average mu of the opponents. If only some games of the pool count, `elo` is fitted to
    them; `elo_interval` is half its 95 % interval.
    """

    place: int = field(metadata=meaning("from 1"))
    rank: int | None = field(metadata=meaning("from 1, without provisional ratings"))
    name: str = field(metadata=meaning("full name of the version, such as `zeta v3`"))
    bot: str
    number: int = field(metadata=meaning("number of the version, from 1"))
    owner: str = field(metadata=meaning("name of the bot's author; `arena` for the samples"))
    state: str = field(metadata=meaning("`active`, or `retired` if you asked for retired versions"))
    mu: float
    sigma: float
    conservative: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float = field(metadata=meaning("share of points from 0 to 1, a draw counting one half"))
    forfeits: int = field(metadata=meaning("losses by forfeit, resignations included"))
    opponents: float = field(metadata=meaning("their `mu` before each game"))
    is_provisional: bool
    beats_next: float | None = field(metadata=meaning("from 0 to 1; null in the last line of the pool"))
    version_id: int = field(metadata=HIDDEN)
    elo: float | None = field(
        default=None, metadata=meaning("relative to the mean of all bots in these games; null if all games count")
    )
    elo_interval: float | None = field(default=None, metadata=meaning("in Elo; null if all games count"))


@dataclass(frozen=True, slots=True)
class PoolRating:
    """A version's rating in one pool."""

    pool: str
    name: str = field(metadata=meaning("full name of the version"))
    mu: float
    sigma: float
    conservative: float
    games: int
    wins: int
    draws: int
    losses: int
    forfeits: int = field(metadata=meaning("losses by forfeit, resignations included"))
    is_provisional: bool = field(metadata=meaning("true: too few games or too large a sigma for a rank"))
    version_id: int = field(metadata=HIDDEN)

    @property
    def family(self) -> str:
        """The family of the pool."""
        return self.pool.partition("/")[0]


@dataclass(frozen=True, slots=True)
class ChangeItem:
    """Change of a rating by one game; `points` is the version's score in it."""

    number: int = field(metadata=meaning("of the game among the version's rated games in this pool, from 1"))
    commit_number: int = field(metadata=meaning("number of the result; changes are in this order"))
    game_id: str
    finished_at: datetime | None
    opponent: str = field(metadata=meaning("full name of the other version"))
    points: float = field(metadata=meaning("1: won, 0.5: drawn, 0: lost"))
    mu_before: float
    sigma_before: float
    mu: float = field(metadata=meaning("after the game"))
    sigma: float = field(metadata=meaning("after the game"))


@dataclass(frozen=True, slots=True)
class ResultCount:
    """Number of rated games between two versions in one tournament and variant that had the same result."""

    tournament_id: int
    variant: str
    first_id: int
    second_id: int
    winner: str
    is_forfeit: bool
    games: int


@dataclass(slots=True)
class Score:
    """Results counted for one line of a table; `name` is the heading of the line, such as a player or a variant."""

    name: str = ""
    wins: int = 0
    draws: int = 0
    losses: int = 0
    forfeits: int = 0

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float:
        """Points per game."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.0

    def add(self, *, is_first: bool, winner: str, games: int = 1, is_forfeit: bool = False) -> None:
        """Count some games with the same result, played on the first or the second side."""
        if winner == "draw":
            self.draws += games
        elif (winner == "first") == is_first:
            self.wins += games
        else:
            self.losses += games
            self.forfeits += games if is_forfeit else 0


class NamedScores(dict[str, Score]):
    """Scores by name, made on first use."""

    def __missing__(self, name: str) -> Score:
        return self.setdefault(name, Score(name))

    def first(self, count: int | None = None) -> NamedScores:
        """Return copies of all scores, or of the `count` with the most games; those come first."""
        order = nsmallest(count or len(self), self.values(), lambda score: (-score.games, score.name))
        return NamedScores((score.name, replace(score)) for score in order)


@dataclass(frozen=True, slots=True)
class ScoreTables:
    """Results of some versions, by family and side (such as `loa first`), opponent and termination."""

    sides: NamedScores = field(default_factory=NamedScores)
    opponents: NamedScores = field(default_factory=NamedScores)
    endings: NamedScores = field(default_factory=NamedScores)


@dataclass(frozen=True, slots=True)
class FirstMoveAdvantage:
    """First-move advantage in Elo; `error` is half the 95 % confidence interval, `is_sure` means it excludes 0."""

    elo: float = field(metadata=meaning("positive: moving first helps"))
    error: float
    is_sure: bool


@dataclass(frozen=True, slots=True)
class SideResults:
    """Rated games of a variant by winner, and drawn ones; `first` is the same side even where it moves second."""

    variant: str
    first: int
    draw: int
    second: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardQuery(PageQuery):
    """Filters of the ratings of a family."""

    pool: str | None = described("a pool for rules with other moves or results (default: the usual rules)", words.POOL)
    retired: bool = described("retired versions too, as with `state=all`", default=False)
    state: Literal["active", "all", "retired"] = described("states of the versions", default="active")
    owner: str | None = described("the owner of the bots", words.NAME)
    variant: str | None = described("count only games of this variant", words.VARIANT)
    pace: Literal["lightning", "bullet", "blitz", "rapid", "classical", "untimed"] | None = described(
        "count only games of this time class"
    )
    at: str | None = described(
        "ratings at the end of a past day, or at a time, such as 2026-11-30 or 2026-11-30T12:00", {"max_length": 40}
    )

    @property
    def with_retired(self) -> bool:
        """True if the leaderboard includes retired versions."""
        return self.retired or self.state != "active"

    @property
    def is_part(self) -> bool:
        """True if only some of the pool's games count."""
        return bool(self.variant or self.pace)

    @property
    def selects(self) -> bool:
        """True if the query asks for a part of the games, one owner, or retired versions alone."""
        return bool(self.is_part or self.owner or self.state == "retired")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard(PageResponse[LeaderboardLine]):
    """The ratings of a pool, best first.

    A rating is provisional below `needed_games` games or above a sigma of `needed_sigma`.

    `advantage` is the first-move advantage in the pool: `elo`, `error` (95 %) and `is_sure`, true if it differs from
    zero. It is null in an empty pool and in a large one. `games` and `sides` count the rated games of the pool. `at` is
    the past time of the ratings, null for the present ones.
    """

    items: list[LeaderboardLine]
    pool: str = field(metadata=meaning("the requested pool"))
    pools: list[str] = field(metadata=meaning("all pools of the family"))
    needed_games: int
    needed_sigma: float
    advantage: FirstMoveAdvantage | None
    games: int
    sides: list[SideResults]
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeQuery(PageQuery):
    """The pool whose rating changes to return."""

    pool: str = described("a pool", words.POOL, default=MISSING)


@dataclass(frozen=True, slots=True)
class RatingCurve:
    """The rating of a bot in a pool over time: its best line in the leaderboard, and points of its versions' curves,
    oldest version first.
    """

    best: LeaderboardLine
    versions: Sequence[Sequence[ChangeItem]]


@dataclass(frozen=True, slots=True)
class RatingComparison:
    """Rating curves of some bots of a pool by name; the `pools` of the family and the `bots` to choose from."""

    pool: str
    pools: list[str]
    bots: list[str]
    curves: Mapping[str, RatingCurve]
