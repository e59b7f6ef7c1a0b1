"""Tables of finished games: standings with Sonneborn-Berger, crosstable, terminations.

Computing them takes time linear in the number of games. Void games count only in `terminations`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from referee.ratings.crosstable import CrosstableCell, cells
from referee.ratings.scored import ScoredGame
from referee.rules.core import Kind


@dataclass(frozen=True, slots=True)
class Standing:
    """A bot's row of the standings.

    `sonneborn_berger` sums the points scored against each opponent times that opponent's points.
    """

    rank: int
    name: str
    points: float
    games: int
    wins: int
    draws: int
    losses: int
    sonneborn_berger: float
    forfeits: int

    @property
    def score(self) -> float:
        """Points per game, 0 without games."""
        return self.points / self.games if self.games else 0.0

    def as_json(self) -> dict[str, Any]:
        """Convert to a JSON object."""
        return {**asdict(self), "score": round(self.score, 4)}


def forfeits(results: Iterable[ScoredGame]) -> Counter[str]:
    """Count the games that each bot lost by forfeit."""
    return Counter(
        result.first if result.winner == "second" else result.second
        for result in results
        if result.kind is Kind.FORFEIT and result.winner != "draw"
    )


def standings(records: Sequence[ScoredGame], names: Sequence[str]) -> list[Standing]:
    """Rank every bot of `names`, best first: by points, then Sonneborn-Berger, then wins, then the order of `names`."""
    meetings = cells(records)
    points = dict.fromkeys(names, 0.0)
    tally = {name: Counter[str]() for name in names}
    berger = dict.fromkeys(names, 0.0)
    for (name, _), meeting in meetings.items():
        points[name] += meeting.points
        tally[name].update(meeting.results)
    for (name, rival), meeting in meetings.items():
        berger[name] += meeting.points * points[rival]
    lost = forfeits(records)
    order = sorted(names, key=lambda name: (-points[name], -berger[name], -tally[name]["W"], names.index(name)))
    return [
        Standing(
            rank,
            name,
            points[name],
            tally[name].total(),
            tally[name]["W"],
            tally[name]["D"],
            tally[name]["L"],
            round(berger[name], 2),
            lost[name],
        )
        for rank, name in enumerate(order, 1)
    ]


def crosstable(records: Sequence[ScoredGame], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return one row per bot in rank order: `name`, `points`, and `cells`, one per column bot in the same order.

    A cell is None on the diagonal, else `{"points", "games", "results"}` with results such as `WDL` in playing order.
    """
    meetings = cells(records)
    order = [standing.name for standing in standings(records, names)]
    rows = []
    for name in order:
        row: list[dict[str, Any] | None] = []
        for rival in order:
            met = meetings.get((name, rival), CrosstableCell())
            cell = {"points": met.points, "games": met.games, "results": met.results}
            row.append(None if rival == name else cell)
        rows.append({"name": name, "points": sum(cell["points"] for cell in row if cell), "cells": row})
    return rows


def terminations(records: Iterable[ScoredGame]) -> dict[str, int]:
    """Count the games by termination, most frequent first, void games included."""
    return dict(Counter(record.termination.value for record in records).most_common())
