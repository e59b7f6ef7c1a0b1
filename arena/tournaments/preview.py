"""Size and duration of a tournament before its creation. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from arena.tournaments import swiss, time_class
from arena.tournaments.settings import Document


@dataclass(frozen=True, slots=True)
class Extent:
    """Number of games, from `least` to `most` (None: no end), and their duration.

    `game_s` are the seconds of a game that uses all its time, with `moves` moves of each side; None without a clock.
    `usual_s` are the seconds that similar games took; None without such games.
    """

    least: int
    most: int | None
    game_s: float | None
    moves: float = time_class.MOVES
    usual_s: float | None = None

    def seconds(self, slots: int) -> float | None:
        """Return the longest duration of all games on this number of slots; None if unknown."""
        return self._all(self.game_s, slots)

    def usual(self, slots: int) -> float | None:
        """Return the duration of all games if they take as long as earlier ones; None if unknown."""
        return self._all(self.usual_s, slots)

    def _all(self, each_s: float | None, slots: int) -> float | None:
        return None if self.most is None or each_s is None else self.most * each_s / max(1, slots)


def extent(document: Document, players: int, plies: float | None = None, usual_s: float | None = None) -> Extent:
    """Return the extent of a tournament of `players` bots.

    `plies` is the mean length of games of the variant, `usual_s` their mean duration with this time control, if known.
    """
    least, most = _games(document, players)
    moves = time_class.MOVES if plies is None else plies / 2
    return Extent(least, most, time_class.seconds(document.control, moves), moves, usual_s)


def _games(document: Document, players: int) -> tuple[int, int | None]:
    games = document.games
    if document.format == "ladder":
        bounds = [one for one in (document.ladder.games, document.ladder.max_games_per_bot * players // 2) if one]
        return (min(bounds), min(bounds)) if bounds else (0, None)
    if document.format == "sprt":
        return 2, document.sprt.games
    if players < 2:
        return 0, 0
    if document.format == "race":  # no bot is decided before a cycle is complete
        return min(players * (players - 1), document.race.games), document.race.games
    if document.format == "knockout":
        matches = players - 1 + (document.knockout.third_place and players > 3)
        return matches * games, matches * (games + 2 * document.knockout.tiebreak_pairs)
    matches = {
        "round-robin": players * (players - 1) // 2,
        "gauntlet": players - 1,
        "swiss": (document.rounds or swiss.default_rounds(players)) * (players // 2),
    }[document.format]
    return matches * games, matches * games
