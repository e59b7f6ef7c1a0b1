"""The running games, built from their events. Their number is bounded: the oldest games are removed first."""

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
"""Maximum number of running games that are kept."""


@dataclass(slots=True)
class RunningGame:
    """One attempt at a game, with its plies so far."""

    attempt: int = 1
    plies: list[PlyPayload] = field(default_factory=list)
    tournament: int = 0
    moved_at: float = field(default_factory=time.time)
    """When the last ply arrived, or before that, when the game started (Unix time)."""

    def snapshot(self, game: str) -> GameSnapshot:
        """Return the whole game without principal variations, so that a long game fits into a message."""
        plies = tuple(replace(ply, pv="") if ply.pv else ply for ply in self.plies)
        return GameSnapshot(game=game, tournament=self.tournament, attempt=self.attempt, plies=plies)


class RunningGames:
    """Running games by their id; the game that started last is at the end."""

    def __init__(self, size: int = MAX_GAMES) -> None:
        self.games: OrderedDict[str, RunningGame] = OrderedDict()
        self._early: OrderedDict[str, list[PlyPayload]] = OrderedDict()
        """Plies that arrived before the start of their game: fast bots overtake the coordinator."""
        self._size = size

    def take(self, event: GameEvent) -> None:
        """Apply an event of a game."""
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
        """Remove a game."""
        self.games.pop(game, None)
        self._early.pop(game, None)

    def _add(self, name: str, number: int, ply: PlyPayload) -> None:
        """Append a ply. After a gap nothing is appended until a snapshot fills it or the game ends."""
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
        """Append the new plies of a batch; after a gap nothing is appended."""
        game = self.games.get(batch.game)
        if game is None or game.attempt != batch.attempt or batch.first > len(game.plies) + 1:
            return
        if new := batch.plies[len(game.plies) + 1 - batch.first :]:
            game.plies.extend(new)
            game.moved_at = time.time()

    def _replace(self, snapshot: GameSnapshot) -> None:
        """Replace a game by a snapshot unless the snapshot is older."""
        known = self.games.get(snapshot.game)
        if known is None or snapshot.attempt > known.attempt:
            self._put(snapshot.game, RunningGame(snapshot.attempt, list(snapshot.plies), snapshot.tournament))
        elif snapshot.attempt == known.attempt and len(snapshot.plies) > len(known.plies):
            known.plies, known.moved_at = list(snapshot.plies), time.time()

    def _put(self, name: str, game: RunningGame) -> None:
        self.games[name] = game
        self.games.move_to_end(name)
        if len(self.games) > self._size:
            self.games.popitem(last=False)
