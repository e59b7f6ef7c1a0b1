"""Tournaments: their states, entries and plans, and the queries that find them and their games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from arena.documents import words
from arena.documents.game import GameState
from arena.documents.page import PageQuery
from arena.documents.query import described, hidden

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
    format: str
    pool: str
    is_rated: bool
    state: TournamentState
    problem: str
    priority: int
    start_time: datetime
    started_at: datetime | None
    finished_at: datetime | None
    planned_games: int
    later_games: int
    finished_games: int
    schedule_id: int | None
    options: Mapping[str, Any] = hidden()
    settings: Mapping[str, Any] = hidden()
    findings: Mapping[str, Any] | None = hidden()
    fire_time: datetime | None = hidden()
    created_by: int = hidden()
    created_at: datetime = hidden()

    @property
    def is_over(self) -> bool:
        """True once the standings are final; only an extension changes them then."""
        return self.state in OVER


@dataclass(frozen=True, slots=True)
class EntryItem:
    """An entry. `eligibility` says why it may play or not; `suspended` says why the coordinator withdrew it, if so."""

    seat: int
    name: str
    bot: str
    version: int
    eligibility: str
    withdrawn: datetime | None
    suspended: str
    version_id: int = hidden()


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentResponse(TournamentItem):
    """A tournament with its settings and entries. `games` counts its games by state."""

    options: Mapping[str, Any]
    settings: Mapping[str, Any]
    created_at: datetime
    entries: list[EntryItem]
    games: dict[str, int]


@dataclass(frozen=True, slots=True)
class PlanItem:
    """The plan of a tournament. `games` counts all games, played and planned; with `is_most` it is an upper bound.

    `games_per_pairing` and `rounds` are null in formats without them.
    """

    games: int
    is_most: bool = False
    games_per_pairing: int | None = None
    rounds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LongerTournament(TournamentResponse):
    """An extended tournament with its new plan. Its games are added as rounds are paired."""

    plan: PlanItem


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
