"""Everybody against everybody, with the games of each pair side by side: for pages, CSV and JSON alike.

Refuses to know where results come from and how the table is drawn.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from arena.store.games import Result
from referee.rules.core import Kind


class Standing(Protocol):
    """What a table needs of a bot's line in the standings."""

    @property
    def rank(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def points(self) -> float: ...
    @property
    def games(self) -> int: ...
    @property
    def sonneborn_berger(self) -> float: ...
    def as_json(self) -> dict[str, Any]: ...


@dataclass(slots=True)
class Cell:
    """What a row's bot did against a column's: `pairs` are the letters (W, D, L) of each opening, both sides."""

    points: float = 0.0
    games: int = 0
    pairs: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """`more`, `less` or `same` than half the points; empty without games."""
        if not self.games:
            return ""
        return "same" if 2 * self.points == self.games else "more" if 2 * self.points > self.games else "less"

    @property
    def letters(self) -> str:
        """All letters, pair by pair: `WD LL`."""
        return " ".join(self.pairs)


@dataclass(frozen=True, slots=True)
class Row:
    """One bot: its cells in the order of the columns, None on the diagonal."""

    standing: Standing
    cells: tuple[Cell | None, ...]


def rows(results: Sequence[Result], order: Sequence[Standing]) -> list[Row]:
    """The table in rank order. Void games are left out; within a pair letters stand in planned order."""
    cells: dict[tuple[str, str], Cell] = defaultdict(Cell)
    last: dict[tuple[str, str], tuple[int, int]] = {}
    for result in sorted(results, key=lambda one: one.sequence):
        if result.kind is Kind.VOID:
            continue
        sides = ((result.first, result.second, result.points[0]), (result.second, result.first, result.points[1]))
        for name, rival, points in sides:
            cell = cells[name, rival]
            cell.points += points
            cell.games += 1
            letter = "W" if points == 1 else "D" if points else "L"
            pair = (result.round, result.pair)
            if last.get((name, rival)) == pair and len(cell.pairs[-1]) < 2:
                cell.pairs[-1] += letter
            else:
                cell.pairs.append(letter)
            last[name, rival] = pair
    names = [standing.name for standing in order]
    return [
        Row(standing, tuple(None if name == standing.name else cells[standing.name, name] for name in names))
        for standing in order
    ]


def as_json(table: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as plain data."""
    names = [row.standing.name for row in table]
    return [
        {
            **row.standing.as_json(),
            "cells": [
                None
                if cell is None
                else {"opponent": name, "points": cell.points, "games": cell.games, "pairs": cell.pairs}
                for name, cell in zip(names, row.cells, strict=True)
            ],
        }
        for row in table
    ]


def as_csv(table: Sequence[Row]) -> str:
    """The rows as CSV: rank, bot, a column per opponent (`1.5/2 WD`), points, games."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(["rank", "bot", *(row.standing.name for row in table), "points", "games", "sonneborn_berger"])
    for row in table:
        cells = ["" if cell is None else f"{cell.points:g}/{cell.games} {cell.letters}".strip() for cell in row.cells]
        standing = row.standing
        writer.writerow(
            [
                standing.rank,
                _safe(standing.name),
                *cells,
                f"{standing.points:g}",
                standing.games,
                standing.sonneborn_berger,
            ]
        )
    return out.getvalue()


def _safe(text: str) -> str:
    """A text no spreadsheet takes for a formula."""
    return "'" + text if text[:1] in "=+-@\t\r" else text
