"""Standings and crosstables of tournaments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.documents.query import hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingItem:
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
    estimate: Mapping[str, Any]
    version_id: int = hidden()


@dataclass(frozen=True, slots=True)
class RulesItem:
    """Results of the games with one set of rules; `won` counts the wins of each side, by the side's name."""

    variant: str
    options: Mapping[str, Any]
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
    """The standings, best first: by points, then by `tie_breaks` in order.

    `rules` has results by rule set; it is empty if all games have the same rules. `strengths` is a Bradley-Terry
    estimate with draws and a first-move advantage, independent of the order of games. `verdict` is the result of a
    sequential test; `race` says which bots are certainly among the best; both are null in other formats.

    `findings` analyses the results of a finished tournament (null with too few bots): `is_cyclic`, the probability
    `chance` of such results without cycles, `cycles` of bots that beat each other in turn, their `shares` in the
    maximal lottery, and `surprises`.
    """

    items: list[StandingItem]
    next: None = None
    is_final: bool
    tie_breaks: Sequence[str]
    strengths: Mapping[str, Any]
    verdict: Mapping[str, Any] | None
    race: Mapping[str, Any] | None
    rules: Sequence[RulesItem]
    findings: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class CrossCell:
    """One bot's games against another: `pairs` has the results of each opening's games, such as `WD` (W, D or L each).

    Once all games are over, `expected` are the points to expect from the strengths of both bots, and `superiority` is
    the likelihood of superiority.
    """

    opponent: str
    points: float
    games: int
    pairs: list[str]
    expected: float | None = None
    superiority: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossRow(StandingItem):
    """A bot's line of the standings with its cells, null on the diagonal. Columns have the order of the rows."""

    cells: list[CrossCell | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosstable:
    """The crosstable: all bots against all."""

    tournament: int
    items: list[CrossRow]
    next: None = None
    is_final: bool
