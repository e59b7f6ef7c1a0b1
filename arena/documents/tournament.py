"""Tournaments: their states, entries and plans, and the queries that find them and their games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from datetime import datetime
from typing import Any, Literal

from arena.documents import words
from arena.documents.game import GameState
from arena.documents.query import PageQuery, Query, described
from referee.meaning import HIDDEN, meaning
from referee.tournament.match import PRIORITIES, PlanItem

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


MAX_CHALLENGE_GAMES = 10
"""Most games of a match that an author starts."""


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
