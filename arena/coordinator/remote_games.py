"""Decides which games of remote bots may be dispatched, and adds what a slot needs to reach the bots.

A bot gets at most as many concurrent games as it accepts. Games of a disconnected bot wait for
`remote_join_timeout_s` (a setting of the tournament). After that they are dispatched, and lost unless the bot connects
within the grace period of its seat.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace

from arena.coordinator.context import Job
from arena.coordinator.lobby import Lobby
from arena.store import Store
from arena.store.tournaments.queue import PendingGame
from referee.game.spec import BotSpec, GameSpec, PlannedGame
from referee.machine.pool import SlotPool
from referee.tournament.document import Document

REFRESH_INTERVAL_S = 5.0
"""Greatest age of the list of remote bots."""


class RemoteGames:
    """Games of remote bots that are connected to the `lobby` of this process (None: no remote bot is ever connected).

    `open_pool` opens local slots for these games if a cluster, which remote bots cannot reach, plays all others (None:
    all games are played here).
    """

    def __init__(
        self,
        store: Store,
        lobby: Lobby | None,
        open_pool: Callable[[], SlotPool] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._lobby, self._open_pool, self._clock = store, lobby, open_pool, clock
        self._pool: SlotPool | None = None
        self._looked: float | None = None
        self._names: frozenset[str] = frozenset()
        self._absent: dict[tuple[int, str], float] = {}
        """When a tournament started to wait for a bot."""
        self._waits: dict[int, float] = {}
        """How long each tournament waits."""
        self._left: Counter[str] = Counter()
        """How many more games each bot accepts."""

    def look(self, jobs: Iterable[Job]) -> None:
        """Update which bots are connected, and their load. Raises StoreUnavailableError."""
        now = self._clock()
        if self._looked is None or now - self._looked >= REFRESH_INTERVAL_S:
            self._looked, self._names = now, frozenset(self._store.versions.remote())
        if not self._names:
            return
        present = self._lobby.present if self._lobby else {}
        self._left = Counter({name: presence.most_games for name, presence in present.items()})
        for job in jobs:
            # All games of a job are between the same two bots. A bot may have lowered its limit: then fewer than 0 are
            # left.
            self._left.subtract(remote_in(job.games[0].spec))

    def waited_for(self, tournament_id: int) -> frozenset[str]:
        """Return the remote bots that a tournament must wait for: their games may not be dispatched yet."""
        now, names = self._clock(), set()
        present = self._lobby.present if self._lobby else {}
        for name in self._names:
            place = (tournament_id, name)
            if name in present:
                self._absent.pop(place, None)
                if self._left[name] <= 0:
                    names.add(name)
            elif now - self._absent.setdefault(place, now) < self._wait_s(tournament_id):
                names.add(name)
        return frozenset(names)

    def _wait_s(self, tournament_id: int) -> float:
        if tournament_id not in self._waits:
            document = Document.model_validate(self._store.tournaments.get(tournament_id).settings)
            self._waits[tournament_id] = document.remote_join_timeout_s
        return self._waits[tournament_id]

    def admits(self, pair: Sequence[PendingGame]) -> bool:
        """Return whether the remote bots of these games accept one more game; if so, count it."""
        present = self._lobby.present if self._lobby else {}
        names = [name for name in remote_in(pair[0].game.spec) if name in present]
        wanted = Counter(names)
        if any(self._left[name] < count for name, count in wanted.items()):
            return False
        self._left.subtract(wanted)
        return True

    def ready(self, games: Sequence[PlannedGame]) -> list[PlannedGame]:
        """Return the games with the lobby's address and key added to their remote bots."""
        if self._lobby is None or not remote_in(games[0].spec):
            return list(games)
        return [
            replace(
                game, spec=replace(game.spec, first=self._found(game.spec.first), second=self._found(game.spec.second))
            )
            for game in games
        ]

    def _found(self, spec: BotSpec) -> BotSpec:
        if spec.place != "remote" or self._lobby is None:
            return spec
        return replace(spec, folder=self._lobby.place, command=(*spec.command, self._lobby.key))

    def executor(self, games: Sequence[PlannedGame], usual: Executor) -> Executor:
        """Return the executor of these games: `usual`, or local slots if a cluster cannot reach their remote bots."""
        if self._open_pool is None or not remote_in(games[0].spec):
            return usual
        if self._pool is None:
            self._pool = self._open_pool()
        return self._pool

    def close(self) -> None:
        """End the slots for remote bots."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def remote_in(spec: GameSpec) -> list[str]:
    return [bot.name for bot in (spec.first, spec.second) if bot.place == "remote"]
