"""Crosstable in rank order, for pages, the terminal, CSV and JSON: the score of each bot against each other, by pairs.

Computing it takes time linear in the number of games. Void games are not counted.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from referee.csv_text import safe
from referee.ratings.scored import ScoredGame
from referee.rules.core import Kind
from referee.tournament.standing import StandingItem


@dataclass(slots=True)
class CrosstableCell:
    """Score of the row's bot against the column's. `pairs` has the results (W, D, L) of each pair of games.

    `numbers` has the numbers of these games in the plan, grouped like `pairs`; empty if they are not known.
    """

    points: float = 0.0
    games: int = 0
    pairs: list[str] = field(default_factory=list)
    numbers: list[list[int]] = field(default_factory=list)
    _last: tuple[int, int] | None = None

    def add(self, points: float, pair: tuple[int, int], number: int) -> None:
        """Count a game; it joins the last pair of games if that has the same `pair` and only one game."""
        self.points += points
        self.games += 1
        letter = "W" if points == 1 else "D" if points else "L"
        if self._last == pair and len(self.pairs[-1]) < 2:
            self.pairs[-1] += letter
            self.numbers[-1].append(number)
        else:
            self.pairs.append(letter)
            self.numbers.append([number])
        self._last = pair

    @classmethod
    def of_counts(cls, losses: int, draws: int, wins: int) -> Self:
        """Return a cell from the numbers of losses, draws and wins, without the order of the games."""
        letters = "W" * wins + "D" * draws + "L" * losses
        return cls(wins + draws / 2, len(letters), [letters] if letters else [])

    @property
    def against(self) -> float:
        """Points of the column's bot."""
        return self.games - self.points

    @property
    def linked(self) -> list[list[tuple[str, int]]]:
        """The letters of the results with the numbers of their games, pair by pair."""
        return [
            list(zip(letters, numbers, strict=True)) for letters, numbers in zip(self.pairs, self.numbers, strict=True)
        ]

    @property
    def results(self) -> str:
        """The letters of all games in planned order: `WDLL`."""
        return "".join(self.pairs)

    @property
    def letters(self) -> str:
        """The letters of all games, pair by pair: `WD LL`."""
        return " ".join(self.pairs)

    @property
    def verdict(self) -> str:
        """`more`, `less` or `same`: the points compared with half of the maximum; empty without games."""
        if not self.games:
            return ""
        return "same" if 2 * self.points == self.games else "more" if 2 * self.points > self.games else "less"


def cells(records: Iterable[ScoredGame]) -> dict[tuple[str, str], CrosstableCell]:
    """Return the cells of all pairs of bots with games, by (row, column); a cell's letters are in planned order."""
    table: dict[tuple[str, str], CrosstableCell] = {}
    for record in sorted(records, key=lambda record: record.sequence):
        if record.kind is Kind.VOID:
            continue
        first_points, second_points = record.points
        pair = (record.round, record.pair)
        table.setdefault((record.first, record.second), CrosstableCell()).add(first_points, pair, record.sequence)
        table.setdefault((record.second, record.first), CrosstableCell()).add(second_points, pair, record.sequence)
    return table


@dataclass(frozen=True, slots=True)
class Row:
    """One bot: its cells in the order of the columns, None against itself."""

    standing: StandingItem
    cells: tuple[CrosstableCell | None, ...]


def rows(results: Iterable[ScoredGame], order: Sequence[StandingItem]) -> list[Row]:
    """Return the rows of the crosstable, in rank order."""
    met, table = cells(results), []
    names = [standing.name for standing in order]
    for standing in order:
        own = [None if name == standing.name else met.get((standing.name, name), CrosstableCell()) for name in names]
        table.append(Row(standing, tuple(own)))
    return table


def as_csv(table: Sequence[Row]) -> str:
    """Return the rows as CSV: rank, bot, a column per opponent (`1.5/2 WD`), points, games, Sonneborn-Berger."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["rank", "bot", *(safe(row.standing.name) for row in table), "points", "games", "sonneborn_berger"])
    for row in table:
        texts = ["" if cell is None else f"{cell.points:g}/{cell.games} {cell.letters}".strip() for cell in row.cells]
        standing = row.standing
        writer.writerow(
            [
                standing.rank,
                safe(standing.name),
                *texts,
                f"{standing.points:g}",
                standing.games,
                standing.sonneborn_berger,
            ]
        )
    return out.getvalue()
