"""Standings and crosstables of tournaments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.meaning import meaning
from referee.tournament.standing import StandingItem


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
