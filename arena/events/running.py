"""The games under way, folded from their news: `start`, `ply`, `snapshot`, `end`, `gone`.

Bounded: the oldest are forgotten first. Refuses to know where news comes from, and what moves mean.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_GAMES = 5_000
"""Running games that are kept."""


@dataclass(slots=True)
class RunningGame:
    """One attempt at a game as far as it got. `plies[i]` is the news of ply i + 1."""

    attempt: int = 1
    plies: list[Mapping[str, Any]] = field(default_factory=list)
    tournament: int = 0


class Running:
    """Running games by their id, the one that began last at the end."""

    def __init__(self, size: int = MAX_GAMES) -> None:
        self.games: OrderedDict[str, RunningGame] = OrderedDict()
        self._early: OrderedDict[str, list[Mapping[str, Any]]] = OrderedDict()
        """Plies that came before the start of their game was told: fast bots overtake the coordinator."""
        self._size = size

    def take(self, name: str, what: str, payload: Mapping[str, Any]) -> None:
        """Take in one piece of news of a game."""
        if what == "start":
            plies = self._early.pop(name, [])
            self._put(name, RunningGame(int(payload.get("attempt", 1)), plies, int(payload.get("tournament", 0))))
        elif what == "ply":
            self._add(name, payload)
        elif what == "snapshot":
            self._replace(name, payload)
        elif what in ("end", "gone"):
            self.games.pop(name, None)
            self._early.pop(name, None)

    def _add(self, name: str, ply: Mapping[str, Any]) -> None:
        """Append a ply. Behind a gap nothing is added: it would be misnumbered; a snapshot or the end mends it."""
        game, number = self.games.get(name), ply.get("number")
        if game is not None and number == len(game.plies) + 1:
            game.plies.append(ply)
        elif number == 1 and (game is None or game.plies):
            self._early[name] = [ply]
            if len(self._early) > self._size:
                self._early.popitem(last=False)
        elif (early := self._early.get(name)) is not None and number == len(early) + 1:
            early.append(ply)

    def _replace(self, name: str, payload: Mapping[str, Any]) -> None:
        """Take over a game as a whole unless more of it is known."""
        attempt, plies = int(payload["attempt"]), list(payload["plies"])
        known = self.games.get(name)
        if known is None or attempt > known.attempt:
            self._put(name, RunningGame(attempt, plies, int(payload.get("tournament", 0))))
        elif attempt == known.attempt and len(plies) > len(known.plies):
            known.plies = plies

    def _put(self, name: str, game: RunningGame) -> None:
        self.games[name] = game
        self.games.move_to_end(name)
        if len(self.games) > self._size:
            self.games.popitem(last=False)
