"""Suspends bots that only ever fail to get ready: after so many games in a row they lose the others unplayed.

Refuses to know who plays games and where records go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from referee.game.record import GameRecord
from referee.game.spec import PlannedGame
from referee.game.unplayed import forfeit_record

SUSPEND_AFTER = 5
"""So many games in a row, unless told otherwise."""


class Suspension:
    """Which bots of an event are suspended: those that lost `limit` games in a row at the start (0: none ever).

    `records` are those of the event so far, in the order in which they came. A game that the opponent lost at the start
    says nothing of a bot: nobody knows what it would have done.
    """

    def __init__(self, limit: int, records: Iterable[GameRecord] = ()) -> None:
        self._limit = limit
        self._failed: Counter[str] = Counter()
        """How many games in a row each bot has lost at the start."""
        self.names: set[str] = set()
        """Who is suspended."""
        for record in records:
            self.add(record)

    @property
    def why(self) -> str:
        """The reason, as people read it."""
        return f"it did not get ready {self._limit} times in a row"

    def add(self, record: GameRecord) -> str | None:
        """Take in the next result; the name of the bot that it suspends, if any."""
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
        """The record of a game that a suspended bot was to play; None when it is to be played."""
        for bot in (game.spec.first, game.spec.second):
            if bot.name in self.names:
                return forfeit_record(game, bot.name, self.why)
        return None
