"""Size, duration and disk space of a tournament before its creation. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from arena.tournaments import swiss, time_class
from arena.tournaments.settings import Document

GAME_BYTES = 4_000
"""Space of a game without its record, measured in SQLite: its rows, those of the archive, and their indexes."""
PLY_BYTES = 18
"""Space of a ply in a record, if no similar game is known."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Number of games of a tournament, `least` to `most` (None: no end), their duration and space in the database.

    `game_s` are the seconds of a game that uses all its time, with `moves` moves of each side; None without a clock.
    `usual_s` are the seconds that similar games took; None without such games. `record_bytes` is the size of a record.
    """

    least: int
    most: int | None
    game_s: float | None
    moves: float = time_class.MOVES
    usual_s: float | None = None
    record_bytes: float = 2 * time_class.MOVES * PLY_BYTES

    @property
    def disk_bytes(self) -> int | None:
        """Space of all games; None without an end."""
        return None if self.most is None else round(self.most * (GAME_BYTES + self.record_bytes))

    def seconds(self, slots: int) -> float | None:
        """Return how long all games take on this number of slots if each uses all its time; None if unknown."""
        return self._all(self.game_s, slots)

    def usual(self, slots: int) -> float | None:
        """Return how long all games take if each takes as long as similar games did; None if unknown."""
        return self._all(self.usual_s, slots)

    def _all(self, each_s: float | None, slots: int) -> float | None:
        return None if self.most is None or each_s is None else self.most * each_s / max(1, slots)


def extent(
    document: Document,
    players: int,
    plies: float | None = None,
    usual_s: float | None = None,
    record_bytes: float | None = None,
) -> Extent:
    """Return the extent of a tournament of `players` bots.

    `plies` is the mean length of games of the variant, `record_bytes` the mean size of their records, `usual_s` their
    mean duration with this time control, if known.
    """
    least, most = _games(document, players)
    moves = time_class.MOVES if plies is None else plies / 2
    size = 2 * moves * PLY_BYTES if record_bytes is None else record_bytes
    return Extent(least, most, time_class.seconds(document.control, moves), moves, usual_s, size)


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
