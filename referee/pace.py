"""How long games between two bots take, and how many of them go to a slot together. Refuses to know what a slot is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from referee.record import GameRecord
from referee.rules.core import Kind
from referee.spec import PlannedGame

G = TypeVar("G")

LOT_MS = 100
"""Pairs between bots whose games are over sooner go to a slot so many together: to hand one out over a cluster takes
its processes as long as ten games of quick bots."""
LEAST_MS = 1
"""A game is never expected to be over sooner."""
_MOST = 10_000
"""Pairs of bots that are remembered."""


class Pace:
    """What was seen of games lately."""

    def __init__(self) -> None:
        self._lasts_ms: dict[tuple[str, str], int] = {}

    def clear(self) -> None:
        """Know of no game."""
        self._lasts_ms.clear()

    def note(self, record: GameRecord) -> None:
        """A game between two bots is over; one that was forfeited or void says nothing of how long they play."""
        if record.kind not in (Kind.RULES, Kind.ADJUDICATION):
            return
        if len(self._lasts_ms) >= _MOST:
            self.clear()
        lasted = datetime.fromisoformat(record.finished) - datetime.fromisoformat(record.started)
        self._lasts_ms[_players(record.first, record.second)] = max(LEAST_MS, lasted // timedelta(milliseconds=1))

    def expected_ms(self, game: PlannedGame) -> int:
        """How long a game will take, as far as that is less than a lot's time; that of bots nobody knows is not."""
        first, second = game.spec.first, game.spec.second
        if "remote" in (first.place, second.place):
            return LOT_MS
        return min(LOT_MS, self._lasts_ms.get(_players(first.name, second.name), LOT_MS))

    @property
    def most_pairs(self) -> int:
        """How many pairs a lot may have."""
        return max(1, LOT_MS // (2 * min(self._lasts_ms.values(), default=LOT_MS)))

    def lot(self, waiting: deque[list[G]], game_of: Callable[[G], PlannedGame], left_ms: int = LOT_MS) -> list[G]:
        """Takes the next pair, and those behind it that are expected to be over in that time as well."""
        lot: list[G] = []
        while waiting:
            left_ms -= sum(self.expected_ms(game_of(one)) for one in waiting[0])
            if lot and left_ms < 0:
                break
            lot += waiting.popleft()
        return lot


def _players(first: str, second: str) -> tuple[str, str]:
    return (first, second) if first <= second else (second, first)
