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
    """An entry. `eligibility` says why it may play or not; `suspended` says why the coordinator withdrew it, if so."""

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
    """The plan of a tournament. `games` counts all games, played and planned; with `is_most` it is an upper bound.

    `games_per_pairing` and `rounds` are null in formats without them.
    """

    games: int
    is_most: bool
    games_per_pairing: int | None
    rounds: int | None


class LongerTournament(TournamentResponse):
    """An extended tournament with its new plan. Its games are added as rounds are paired."""

    plan: PlanItem


class StandingItem(Out):
    """A line of the standings, provisional until all games are over. `points` include the byes of a Swiss.

    `round` is the last one reached in a knockout. `estimate` has Elo ± 95 %, nElo, LOS and the pentanomial counts.
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
    """Results of the games by one set of rules; `won` counts wins by side names."""

    variant: str
    options: dict[str, Any]
    games: int
    won: dict[str, int]
    draws: int


class Standings(Out):
    """The standings, best first: by points, then by `tie_breaks` in order.

    `rules` has results by rule set; it is empty if all games have the same rules. `strengths` is a Bradley-Terry
    estimate with draws and a first-move advantage, independent of the order of games. `verdict` is the result of a
    sequential test; `race` says which bots are decided to be at the top; null in other formats.

    `findings` analyses the results of a finished tournament, null with too few bots: `is_cyclic`, the probability
    `chance` of such results without cycles, `cycles` of bots that beat each other in turn, their `shares` in the
    maximal lottery, and `surprises`.
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
    """One bot's games against another: `pairs` are the letters (W, D, L) of each opening, played with both sides.

    When all games are over: the `expected` points by both strengths, and the likelihood of superiority (`superiority`).
    """

    opponent: str
    points: float
    games: int
    pairs: list[str]
    expected: float | None = None
    superiority: float | None = None


class CrossRow(StandingItem):
    """A bot's line of the standings with its cells, null on the diagonal. Columns have the order of the rows."""

    cells: list[CrossCell | None]


class Crosstable(Out):
    """The crosstable: all bots against all."""

    tournament: int
    items: list[CrossRow]
    next: None = None
    is_final: bool
