"""Suspends bots that fail to get ready in several games in a row: they lose their remaining games without play."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from referee.game.record import GameRecord
from referee.game.spec import PlannedGame
from referee.game.unplayed import forfeit_record

SUSPEND_AFTER = 5
"""Default number of failed games in a row."""


class Suspension:
    """The suspended bots of a tournament: those that lost `limit` games in a row before the first move.

    `limit` 0 suspends no bot. `records` are the records of the tournament so far, in order of arrival. A game that the
    opponent lost before the first move does not count for or against a bot.
    """

    def __init__(self, limit: int, records: Iterable[GameRecord] = ()) -> None:
        self._limit = limit
        self._failed: Counter[str] = Counter()
        """Number of games in a row that each bot has lost at the start."""
        self.names: set[str] = set()
        """The suspended bots."""
        for record in records:
            self.add(record)

    @property
    def why(self) -> str:
        """The reason for a suspension, in words."""
        return f"it did not get ready {self._limit} times in a row"

    def add(self, record: GameRecord) -> str | None:
        """Add the next result; return the name of the bot that it suspends, if any."""
        if not record.at_start:
            for name in (record.first, record.second):
                self._failed.pop(name, None)
            return None
        loser = record.first if record.loser == "first" else record.second
        self._failed[loser] += 1
        if not self._limit or loser in self.names or self._failed[loser] < self._limit:
            return None
        self.names.add(loser)
        return loser

    def forfeit(self, game: PlannedGame) -> GameRecord | None:
        """Return the record of a game that a suspended bot loses; None if the game is to be played."""
        for bot in (game.spec.first, game.spec.second):
            if bot.name in self.names:
                return forfeit_record(game, bot.name, self.why)
        return None
