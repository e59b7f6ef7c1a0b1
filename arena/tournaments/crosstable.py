"""Crosstable in rank order, for pages, CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.csv_text import safe
from arena.documents.standings import StandingItem
from referee.ratings.crosstable import CrosstableCell, cells
from referee.ratings.scored import ScoredGame


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
    writer.writerow(["rank", "bot", *(row.standing.name for row in table), "points", "games", "sonneborn_berger"])
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
