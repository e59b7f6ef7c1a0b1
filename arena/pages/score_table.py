"""Wins, draws and losses counted by side, opponent and termination."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.documents.game import Tally
from arena.pages.drawing import plot


@dataclass(slots=True)
class ScoreRow:
    """Wins, draws and losses under one heading."""

    name: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    forfeits: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float:
        """Points per game."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.0

    @property
    def bar(self) -> Any:
        """Wins, draws and losses as a bar; the page shows the numbers next to it."""
        return plot.share((("win", self.wins), ("draw", self.draws), ("loss", self.losses)))

    def add(self, *, is_first: bool, line: Tally) -> None:
        """Count some games of one termination."""
        if line.winner == "draw":
            self.draws += line.count
        elif (line.winner == "first") == is_first:
            self.wins += line.count
        else:
            self.losses += line.count
            self.forfeits += line.count if line.termination_class == "forfeit" else 0


@dataclass(slots=True)
class ScoreTables:
    """Results of some versions, by (family, side), opponent and termination."""

    sides: dict[tuple[str, str], ScoreRow] = field(default_factory=dict)
    opponents: dict[str, ScoreRow] = field(default_factory=dict)
    endings: dict[str, ScoreRow] = field(default_factory=dict)


def score_tables(lines: Sequence[Tally], mine: set[int]) -> ScoreTables:
    """Group tallies by side, opponent and termination. A game between two of the versions counts for both."""
    found = ScoreTables()
    for line in lines:
        for is_first, own, other in ((True, line.first_id, line.second), (False, line.second_id, line.first)):
            if own not in mine:
                continue
            side = "first" if is_first else "second"
            found.sides.setdefault((line.family, side), ScoreRow(side)).add(is_first=is_first, line=line)
            found.opponents.setdefault(other, ScoreRow(other)).add(is_first=is_first, line=line)
            found.endings.setdefault(line.termination, ScoreRow(line.termination)).add(is_first=is_first, line=line)
    return found
