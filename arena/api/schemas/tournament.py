"""Tournaments, their entries and tables."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from arena.api.schemas.word import Out

TournamentState = Literal["scheduled", "running", "paused", "draining", "finished", "cancelled", "open"]


class TournamentItem(Out):
    """A tournament in a list."""

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
    finished_games: int


class EntryItem(Out):
    """An entry. `eligibility` says why it may play, or why not; `suspended` why the referee took it out, if it did."""

    seat: int
    name: str
    bot: str
    version: int
    eligibility: str
    withdrawn: datetime | None
    suspended: str


class TournamentResponse(TournamentItem):
    """A tournament with its settings and entries. `games` counts its games by state."""

    options: dict[str, Any]
    settings: dict[str, Any]
    created_at: datetime
    entries: list[EntryItem]
    games: dict[str, int]


class PlanItem(Out):
    """What a tournament comes to: `games` in all, played and to be played; where `is_most`, it may end with fewer.

    `games_per_pairing` and `rounds` are null in formats that have none.
    """

    games: int
    is_most: bool
    games_per_pairing: int | None
    rounds: int | None


class LongerTournament(TournamentResponse):
    """A tournament that was made longer, with the new plan; its games are stored as their time comes."""

    plan: PlanItem


class StandingItem(Out):
    """One line of the standings; provisional until all games are done. `points` include the byes of a Swiss.

    `round` is the last one reached in a knockout; `estimate` what the results say: Elo ± 95 %, nElo, LOS, pentanomial.
    """

    rank: int
    name: str
    points: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    sonneborn_berger: float
    byes: int
    buchholz: float
    buchholz_cut: float
    round: int
    forfeits: int
    is_withdrawn: bool
    estimate: dict[str, Any]


class RulesItem(Out):
    """How the games by one set of rules ended: `won` by the names of the sides."""

    variant: str
    options: dict[str, Any]
    games: int
    won: dict[str, int]
    draws: int


class Standings(Out):
    """The standings, best first: by points, then by `tie_breaks` in their order.

    `rules`: what handicaps and the lot did to the results, empty where all games are played by the same rules.
    `strengths` is an estimate that no order of games changes (Bradley-Terry with draws), with what moving first is
    worth; `verdict` that of a sequential test, `race` who is settled in a race to be among the first; null elsewhere.
    `findings` are what the results of a finished tournament say beyond strengths: `is_cyclic`, the `chance` of as much
    without any cycle, `cycles` of bots that beat each other in turn, their `shares` in the mix that nobody is expected
    to beat, and `surprises`; null with too few bots.
    """

    items: list[StandingItem]
    next: None = None
    is_final: bool
    tie_breaks: list[str]
    strengths: dict[str, Any]
    verdict: dict[str, Any] | None
    race: dict[str, Any] | None
    rules: list[RulesItem]
    findings: dict[str, Any] | None


class CrossCell(Out):
    """One bot's games against another: `pairs` are the letters (W, D, L) of each opening, played from both sides.

    When all games are done: the points `expected` of it by the strengths of both, and the likelihood that it is the
    stronger one by all games (`superiority`).
    """

    opponent: str
    points: float
    games: int
    pairs: list[str]
    expected: float | None = None
    superiority: float | None = None


class CrossRow(StandingItem):
    """One bot's line of the standings with its cells, null on the diagonal. Columns are in the order of the rows."""

    cells: list[CrossCell | None]


class Crosstable(Out):
    """Everybody against everybody."""

    tournament: int
    items: list[CrossRow]
    next: None = None
    is_final: bool
