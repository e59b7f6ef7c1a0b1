"""Tournaments: their states, entries and plans, the queries that find them and their games, standings and crosstables,
and schedules of recurring tournaments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from datetime import datetime
from typing import Any, Literal

from arena.documents import words
from arena.documents.game import GameState
from arena.documents.query import PageQuery, Query, described
from referee.meaning import HIDDEN, meaning
from referee.tournament.match import PRIORITIES, PlanItem
from referee.tournament.standing import StandingItem

TournamentState = Literal["scheduled", "running", "paused", "draining", "finished", "cancelled", "open"]
NEXT_STATES: Mapping[TournamentState, frozenset[TournamentState]] = {
    "scheduled": frozenset({"running", "paused", "cancelled"}),
    "running": frozenset({"paused", "draining", "finished", "cancelled"}),
    "draining": frozenset({"running", "paused", "finished", "cancelled"}),
    "paused": frozenset({"scheduled", "running", "finished", "cancelled"}),
    "finished": frozenset({"running"}),
    "cancelled": frozenset(),
    "open": frozenset(),
}
"""Allowed next states; a `finished` tournament resumes when it is extended. `open` is for games of people."""
OVER: tuple[TournamentState, ...] = ("finished", "cancelled")
"""States in which the standings are final, unless the tournament is extended."""
MAX_CHALLENGE_GAMES = 10
GAMES_OF_PEOPLE = "Games of people: "
"""The beginning of the name of the tournament that holds the games of people in a family, before its title."""
PERMANENT_LADDER = ": permanent ladder"
"""The end of the name of a permanent ladder, after the title of its family."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentItem:
    """A tournament in a list.

    `planned_games` counts all games that are over or still to be played; the last `later_games` of them are not listed
    yet, because a plan known in advance is stored part by part.
    """

    id: int
    name: str
    family: str
    variant: str
    format: str = field(metadata=meaning("pairing system, as in `Document`"))
    pool: str
    is_rated: bool = field(metadata=meaning("true: its games change ratings"))
    state: TournamentState = field(
        metadata=meaning("`draining`: running games finish, then `paused`; `open`: games that people start at any time")
    )
    problem: str = field(metadata=meaning("why it was cancelled, or which bots were not entered; empty: none"))
    priority: int = field(metadata=meaning("-100 to 100; 5 more is twice as many games as another tournament"))
    start_time: datetime = field(metadata=meaning("planned start"))
    started_at: datetime | None = field(metadata=meaning("null: not started"))
    finished_at: datetime | None = field(metadata=meaning("null: not over"))
    planned_games: int = field(metadata=meaning("single games, not pairs, without cancelled ones"))
    later_games: int
    finished_games: int = field(metadata=meaning("games with a result, and those given up as void"))
    schedule_id: int | None = field(metadata=meaning("id of the schedule that created it; null: none"))
    options: Mapping[str, Any] = field(metadata=HIDDEN)
    settings: Mapping[str, Any] = field(metadata=HIDDEN)
    findings: Mapping[str, Any] | None = field(metadata=HIDDEN)
    fire_time: datetime | None = field(metadata=HIDDEN)
    created_by: int = field(metadata=HIDDEN)
    created_at: datetime = field(metadata=HIDDEN)

    @property
    def is_over(self) -> bool:
        """True once the standings are final; only an extension changes them then."""
        return self.state in OVER


@dataclass(frozen=True, slots=True)
class EntryItem:
    """An entry. `eligibility` says why it may play or not; `suspended` says why the coordinator withdrew it, if so."""

    seat: int = field(metadata=meaning("place among the entries, from 0"))
    name: str = field(metadata=meaning("full name of the version, such as `zeta v3`"))
    bot: str
    version: int = field(metadata=meaning("number of the version, from 1"))
    eligibility: str = field(metadata=meaning("in words, with the options that the bot gets"))
    withdrawn: datetime | None = field(metadata=meaning("null: it takes part"))
    suspended: str = field(metadata=meaning("empty: it was not"))
    version_id: int = field(metadata=HIDDEN)
    owner_id: int = field(metadata=HIDDEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentResponse(TournamentItem):
    """A tournament with its settings and entries. `games` counts its games by state."""

    options: Mapping[str, Any] = field(
        metadata=meaning("rule options set by the organiser, `rule_options` of the settings")
    )
    settings: Mapping[str, Any] = field(metadata=meaning("a `Document` with its defaults"))
    created_at: datetime
    entries: list[EntryItem] = field(metadata=meaning("by `seat`"))
    games: dict[str, int] = field(metadata=meaning("states without games are left out"))
    plan: PlanItem | None = field(
        default=None, metadata=meaning("after an extension: its new plan; games are added as rounds are paired")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentQuery(PageQuery):
    """Filters of tournaments."""

    state: TournamentState | None = described("a state", label="State")
    family: str | None = described("a family", words.FAMILY, label="Family")
    schedule: int | None = described("the schedule that created the tournaments", words.ID, metavar="ID")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanQuery(PageQuery):
    """Filters of a tournament's games."""

    state: GameState | None = described("a state", label="State")
    version: str | None = described("a version that plays, such as zeta v3", words.ENTRY, label="Bot")
    termination: str | None = described("how the games ended", {"pattern": "^[a-z-]{1,40}$"}, label="Ended by")


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityRequest(Query):
    """The new priority of a tournament. A priority that is higher by 5 gives it twice as many games."""

    priority: int = described(
        f"priority from {PRIORITIES[0]} to {PRIORITIES[2]} (default of tournaments: {PRIORITIES[1]})",
        {"ge": PRIORITIES[0], "le": PRIORITIES[2]},
        default=MISSING,
        option="NUMBER",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRequest(Query):
    """A version by its full name (`zeta v3`), by bot and number, or by bot alone for the newest active version."""

    bot: str = described(
        "a bot, or a version as in standings, such as zeta v3", words.ENTRY, default=MISSING, option="BOT"
    )
    number: int | None = described(
        "number of the version (default: part of the name, or the newest active version)", words.ID, option="--version"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge(Query):
    """A match to start. `opponent` is a sample bot, another bot of yours, or a bot open to challenges."""

    opponent: str = described(
        "opponent: a sample, another bot of yours, or a bot that is open to challenges",
        words.ENTRY,
        default=MISSING,
        option="OPPONENT",
    )
    family: str = described("family of games", words.FAMILY, default=MISSING)
    variant: str | None = described("variant of the family (default: its first)", words.VARIANT)
    games: int = described(
        "play COUNT games, in pairs with sides swapped",
        {"ge": 1, "le": MAX_CHALLENGE_GAMES},
        default=2,
        metavar="COUNT",
    )
    time: str = described(
        "time control; short if your bot was uploaded",
        {"max_length": 40},
        default="10+0.1",
        metavar="TIME",
        option="--tc",
    )


CatchUp = Literal["skip", "once", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleItem:
    """A recurring tournament. `template` is the settings document of its tournaments."""

    id: int
    name: str = field(metadata=meaning("name of its tournaments, with the placeholders `{date}` and `{time}`"))
    cron: str = field(metadata=meaning("minute, hour, day, month and weekday, in `timezone`"))
    timezone: str = field(metadata=meaning("IANA name, such as `Europe/Paris`"))
    catch_up: CatchUp = field(
        metadata=meaning("tournaments created for times missed while the server was down: none, the last or all")
    )
    template: Mapping[str, Any] = field(metadata=meaning("settings of its tournaments, a `Document`"))
    is_enabled: bool = field(metadata=meaning("false: it creates no tournaments"))
    next_fire: datetime | None = field(metadata=meaning("time of the next tournament in UTC; null: none"))
    created_at: datetime
    created_by: int = field(metadata=HIDDEN)


MAX_DATES = 50
"""Most dates of a schedule that are computed at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewQuery(Query):
    """The tournaments to preview."""

    count: int = described(f"number of tournaments, at most {MAX_DATES}", {"ge": 1, "le": MAX_DATES}, default=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedTournament:
    """A tournament that a schedule will create."""

    starts: datetime = field(metadata=meaning("when it starts, with the offset of the schedule's time zone"))
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedEntry:
    """A version that may not play, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulePreview:
    """The next tournaments of a schedule, and the bots and games that each would have with the bots of today."""

    id: int
    name: str
    cron: str
    timezone: str
    is_enabled: bool
    family: str | None = field(metadata=meaning("null: the settings are invalid"))
    variant: str | None
    format: str | None
    tournaments: list[PreviewedTournament]
    entries: list[str]
    refused: list[RefusedEntry]
    least_games: int | None
    most_games: int | None = field(metadata=meaning("null: unlimited"))
    problems: list[str] = field(metadata=meaning("why its tournaments could not be played today"))


@dataclass(frozen=True, slots=True)
class RulesItem:
    """Results of the games with one set of rules; `won` counts the wins of each side, by the side's name."""

    variant: str
    options: Mapping[str, Any] = field(metadata=meaning("rule options that differ from those of the variant"))
    games: int
    won: Mapping[str, int]
    draws: int

    @property
    def text(self) -> str:
        """The variant and its options in readable form."""
        options = (f"{name}={str(value).lower()}" for name, value in self.options.items())
        return " ".join([self.variant, *options])


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """The standings, best first: by points, then by `tie_breaks` in order; in a knockout, ladder or race by
    `tie_breaks` alone.

    `rules` has results by rule set; it is empty if all games have the same rules. `strengths` is a Bradley-Terry
    estimate with draws and a first-move advantage, independent of the order of games. `verdict` is the result of a
    sequential test; `race` says which bots are certainly among the best; both are null in other formats.

    `findings` analyses the results of a finished tournament (null with too few bots): `is_cyclic`, the probability
    `chance` of such results without cycles, `cycles` of bots that beat each other in turn, their `shares` in the
    maximal lottery, and `surprises`.
    """

    items: list[StandingItem]
    next: None = field(default=None, metadata=meaning("always null: the list is complete"))
    is_final: bool = field(
        metadata=meaning("true once all games are over; only an extension changes the standings then")
    )
    tie_breaks: Sequence[str] = field(metadata=meaning("names of the criteria, such as `Buchholz`"))
    strengths: Mapping[str, Any] = field(
        metadata=meaning(
            "of each bot (`elo`, and half of its 95 % `interval`), and of moving first (`advantage`, in Elo)"
        )
    )
    verdict: Mapping[str, Any] | None = field(
        metadata=meaning(
            "`state` (`H0`, `H1`, `continue`), log-likelihood ratio `llr` with its bounds, `pentanomial`, `waiting`: "
            "complete pairs that count once all earlier ones are over, `left`: estimate of the games until the "
            "decision, or null"
        )
    )
    race: Mapping[str, Any] | None = field(
        metadata=meaning("names of bots by group, and each bot's share of points in `shares`, from 0 to 1")
    )
    rules: Sequence[RulesItem]
    findings: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class CrossCell:
    """One bot's games against another: `pairs` has the results of each opening's games, such as `WD` (W, D or L each).

    Once all games are over, `expected` are the points to expect from the strengths of both bots, and `superiority` is
    the likelihood of superiority.
    """

    opponent: str = field(metadata=meaning("full name of the other version"))
    points: float = field(metadata=meaning("points of the row's bot: 1 for a win, 0.5 for a draw"))
    games: int = field(metadata=meaning("single games, not pairs"))
    pairs: list[str] = field(metadata=meaning("such as `WD`; one letter: a single game, or the other is not over"))
    expected: float | None = field(default=None, metadata=meaning("null before the end"))
    superiority: float | None = field(
        default=None,
        metadata=meaning("probability from 0 to 1 that the row's bot is the stronger one; null before the end"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossRow(StandingItem):
    """A bot's line of the standings with its cells, null on the diagonal. Columns have the order of the rows."""

    cells: list[CrossCell | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosstable:
    """The crosstable: all bots against all."""

    tournament: int = field(metadata=meaning("id of the tournament"))
    items: list[CrossRow] = field(metadata=meaning("best first, like the standings"))
    next: None = field(default=None, metadata=meaning("always null: the list is complete"))
    is_final: bool = field(metadata=meaning("true once all games are over"))
