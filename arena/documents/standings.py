"""Standings and crosstables of tournaments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.documents.query import documented, hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingItem:
    """A line of the standings, provisional until all games are over. `points` include the byes of a Swiss.

    `round` is the last one reached in a knockout. `estimate` has Elo ± 95 %, nElo, LOS and the pentanomial counts.
    """

    rank: int = documented("from 1; no two entries share a rank")
    name: str = documented("full name of the version, such as `zeta v3`")
    points: float = documented("1 for a win, 0.5 for a draw")
    games: int = documented("single games with a result, without byes")
    wins: int
    draws: int
    losses: int
    score: float = documented("share of points in these games, from 0 to 1")
    sonneborn_berger: float = documented("sum over the opponents: the points against each times that opponent's points")
    byes: int = documented("rounds of a Swiss without an opponent, worth a won match; 0 in other formats")
    buchholz: float = documented("sum of the opponents' points in a Swiss; 0 in other formats")
    buchholz_cut: float = documented("the same without the lowest")
    round: int = documented("from 1, one more for the winner of the final; 0 in other formats")
    forfeits: int = documented("losses by forfeit, resignations included")
    is_withdrawn: bool = documented("true: it gets no new games")
    estimate: Mapping[str, Any] = documented(
        "Elo and normalised Elo relative to its opponents, `los`, and `pentanomial`: pairs with 0 to 2 points"
    )
    version_id: int = hidden()


@dataclass(frozen=True, slots=True)
class RulesItem:
    """Results of the games with one set of rules; `won` counts the wins of each side, by the side's name."""

    variant: str
    options: Mapping[str, Any] = documented("rule options that differ from those of the variant")
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
    sequential test; `race` says which bots are decided to be at the top; both are null in other formats.

    `findings` analyses the results of a finished tournament (null with too few bots): `is_cyclic`, the probability
    `chance` of such results without cycles, `cycles` of bots that beat each other in turn, their `shares` in the
    maximal lottery, and `surprises`.
    """

    items: list[StandingItem]
    next: None = documented("always null: the list is complete", None)
    is_final: bool = documented("true once all games are over; only an extension changes the standings then")
    tie_breaks: Sequence[str] = documented("names of the criteria, such as `Buchholz`")
    strengths: Mapping[str, Any] = documented(
        "of each bot (`elo`, and half of its 95 % `interval`), and of moving first (`advantage`, in Elo)"
    )
    verdict: Mapping[str, Any] | None = documented(
        "`state` (`H0`, `H1`, `continue`), log-likelihood ratio `llr` with its bounds, and `pentanomial`"
    )
    race: Mapping[str, Any] | None = documented(
        "names of bots by group, and each bot's share of points in `shares`, from 0 to 1"
    )
    rules: Sequence[RulesItem]
    findings: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class CrossCell:
    """One bot's games against another: `pairs` are the letters (W, D, L) of each opening, played with both sides.

    Once all games are over, `expected` are the points to expect from the strengths of both bots, and `superiority` is
    the likelihood of superiority.
    """

    opponent: str = documented("full name of the other version")
    points: float = documented("points of the row's bot: 1 for a win, 0.5 for a draw")
    games: int = documented("single games, not pairs")
    pairs: list[str] = documented("such as `WD`; one letter: a single game, or the other is not over")
    expected: float | None = documented("null before the end", None)
    superiority: float | None = documented(
        "probability from 0 to 1 that the row's bot is the stronger one; null before the end", None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossRow(StandingItem):
    """A bot's line of the standings with its cells, null on the diagonal. Columns have the order of the rows."""

    cells: list[CrossCell | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crosstable:
    """The crosstable: all bots against all."""

    tournament: int = documented("id of the tournament")
    items: list[CrossRow] = documented("best first, like the standings")
    next: None = documented("always null: the list is complete", None)
    is_final: bool = documented("true once all games are over")
