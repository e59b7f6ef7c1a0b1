"""The games under way, folded from their news.

Bounded: the oldest are forgotten first.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace

from arena.events.messages import (
    GameAborted,
    GameEnded,
    GameEvent,
    GamePlies,
    GamePly,
    GameSnapshot,
    GameStarted,
    PlyPayload,
)

MAX_GAMES = 5_000
"""Running games that are kept."""


@dataclass(slots=True)
class RunningGame:
    """One attempt at a game as far as it got."""

    attempt: int = 1
    plies: list[PlyPayload] = field(default_factory=list)
    tournament: int = 0
    moved_at: float = field(default_factory=time.time)
    """When its last ply came, or it began, by the clock of the system."""

    def snapshot(self, game: str) -> GameSnapshot:
        """All of it but the lines bots expect, as the news of the game with that id: a long game is to fit."""
        plies = tuple(replace(ply, pv="") if ply.pv else ply for ply in self.plies)
        return GameSnapshot(game=game, tournament=self.tournament, attempt=self.attempt, plies=plies)


class RunningGames:
    """Running games by their id, the one that began last at the end."""

    def __init__(self, size: int = MAX_GAMES) -> None:
        self.games: OrderedDict[str, RunningGame] = OrderedDict()
        self._early: OrderedDict[str, list[PlyPayload]] = OrderedDict()
        """Plies that came before the start of their game was told: fast bots overtake the coordinator."""
        self._size = size

    def take(self, event: GameEvent) -> None:
        """Take in one piece of news of a game."""
        match event:
            case GamePly():
                self._add(event.game, event.number, event.ply)
            case GamePlies():
                self._extend(event)
            case GameStarted():
                plies = self._early.pop(event.game, [])
                self._put(event.game, RunningGame(event.attempt, plies, event.tournament))
            case GameSnapshot():
                self._replace(event)
            case GameEnded() | GameAborted():
                self.forget(event.game)

    def forget(self, game: str) -> None:
        """A game does not run any more."""
        self.games.pop(game, None)
        self._early.pop(game, None)

    def _add(self, name: str, number: int, ply: PlyPayload) -> None:
        """Append a ply. Behind a gap nothing is added: it would be misnumbered; a snapshot or the end mends it."""
        game = self.games.get(name)
        if game is not None and number == len(game.plies) + 1:
            game.plies.append(ply)
            game.moved_at = time.time()
        elif number == 1 and (game is None or game.plies):
            self._early[name] = [ply]
            if len(self._early) > self._size:
                self._early.popitem(last=False)
        elif (early := self._early.get(name)) is not None and number == len(early) + 1:
            early.append(ply)

    def _extend(self, batch: GamePlies) -> None:
        """Append the plies of a batch that are new; after a gap nothing is added."""
        game = self.games.get(batch.game)
        if game is None or game.attempt != batch.attempt or batch.first > len(game.plies) + 1:
            return
        if new := batch.plies[len(game.plies) + 1 - batch.first :]:
            game.plies.extend(new)
            game.moved_at = time.time()

    def _replace(self, told: GameSnapshot) -> None:
        """Take over a game as a whole unless more of it is known."""
        known = self.games.get(told.game)
        if known is None or told.attempt > known.attempt:
            self._put(told.game, RunningGame(told.attempt, list(told.plies), told.tournament))
        elif told.attempt == known.attempt and len(told.plies) > len(known.plies):
            known.plies, known.moved_at = list(told.plies), time.time()

    def _put(self, name: str, game: RunningGame) -> None:
        self.games[name] = game
        self.games.move_to_end(name)
        if len(self.games) > self._size:
            self.games.popitem(last=False)
