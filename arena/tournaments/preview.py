"""What a document would come to before it is created: how many games, and how long they take. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from arena.tournaments import pace, swiss
from arena.tournaments.settings import Document


@dataclass(frozen=True, slots=True)
class Extent:
    """From `least` to `most` games; `most` is None without end. `game_s`: seconds of one, None without a clock."""

    least: int
    most: int | None
    game_s: float | None

    def seconds(self, slots: int) -> float | None:
        """How long all of them take at most on so many slots; None where there is no saying."""
        if self.most is None or self.game_s is None:
            return None
        return self.most * self.game_s / max(1, slots)


def extent(document: Document, players: int) -> Extent:
    """The games of a tournament of so many players; each is taken to last as long as its clocks allow for 40 moves."""
    least, most = _games(document, players)
    return Extent(least, most, pace.seconds(document.control))


def _games(document: Document, players: int) -> tuple[int, int | None]:
    games = document.games
    if document.format == "ladder":
        bounds = [one for one in (document.ladder.games, document.ladder.cap * players // 2) if one]
        return (min(bounds), min(bounds)) if bounds else (0, None)
    if document.format == "sprt":
        return 2, document.sprt.games
    if players < 2:
        return 0, 0
    if document.format == "knockout":
        matches = players - 1 + (document.knockout.third_place and players > 3)
        return matches * games, matches * (games + 2 * document.knockout.tiebreak_pairs)
    meetings = {
        "round-robin": players * (players - 1) // 2,
        "gauntlet": players - 1,
        "swiss": (document.rounds or swiss.default_rounds(players)) * (players // 2),
    }[document.format]
    return meetings * games, meetings * games
