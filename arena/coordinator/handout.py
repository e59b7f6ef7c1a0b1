"""Hands planned games to the executor: pair by pair, from one running tournament after another, while there is room.

Tournaments of a lower priority have what those of a higher one leave over.

Refuses to know what becomes of them: their results are the recorder's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from datetime import datetime
from itertools import groupby
from pathlib import Path

from arena.coordinator.executors import slots_of
from arena.coordinator.memory import Job, Memory
from arena.coordinator.remote_games import RemoteGames
from arena.store import Store, StoreUnavailableError
from arena.store.queue import PendingGame
from arena.store.tournaments import LiveTournament
from arena.worker import BundlePlace, play_bundled

Pair = list[PendingGame]
"""The games of one opening that are still to be played."""


def _priority(found: LiveTournament) -> int:
    return found.priority


class Handout:
    """`place` is where workers find bundles, `spool` where slots of this machine leave results; `on_done` hears, in any
    thread, of jobs that are over; `wake` asks for another turn at once."""

    def __init__(
        self,
        store: Store,
        executor: Executor,
        memory: Memory,
        *,
        owner: str,
        place: BundlePlace,
        spool: Path | None,
        remote: RemoteGames,
        clock: Callable[[], datetime],
        on_done: Callable[[Future[list[str]]], None],
        wake: Callable[[], None],
    ) -> None:
        self._store, self._executor, self._memory = store, executor, memory
        self._owner, self._place, self._clock = owner, place, clock
        self._on_done, self._wake = on_done, wake
        self._spool = spool
        self._remote = remote
        self._turns = 0

    @property
    def room(self) -> int:
        """How many jobs are out at most: workers of a cluster come and go."""
        return 2 * slots_of(self._executor)

    def hand_out(self, running: Sequence[LiveTournament]) -> None:
        """Fill the room there is. Raises StoreUnavailableError."""
        memory = self._memory
        room = self.room - len(memory.jobs)
        sources = [found for found in running if found.id not in memory.dry]
        if room <= 0 or not sources:
            return
        self._remote.look(memory.jobs.values())
        self._turns += 1
        chosen: list[Pair] = []
        sources.sort(key=_priority, reverse=True)
        for _, equals in groupby(sources, key=_priority):
            if len(chosen) < room:  # of what is left over others have their share
                chosen += self._choose([found.id for found in equals], room - len(chosen))
        if chosen:
            self._submit(chosen)

    def _choose(self, sources: Sequence[int], room: int) -> list[Pair]:
        """So many pairs of these tournaments, in turns."""
        memory = self._memory
        piles = self._piles(sources, room)
        chosen: list[Pair] = []
        while piles and len(chosen) < room:
            for pile in piles[: room - len(chosen)]:
                tournament_id = pile[0][0].tournament_id
                if self._remote.admits(pile[0]):
                    chosen.append(pile.popleft())
                else:  # its remote bot has enough to do
                    memory.dry.discard(tournament_id)
                    pile.popleft()
            piles = [pile for pile in piles if pile]
        for pile in piles:  # not all of it found room
            memory.dry.discard(pile[0][0].tournament_id)
        return chosen

    def _piles(self, sources: Sequence[int], room: int) -> list[deque[Pair]]:
        """The pairs ready to be played, by tournament; each turn begins with another one."""
        memory, at = self._memory, self._clock()
        for game in [game for game, until in memory.resting.items() if until <= at]:
            del memory.resting[game]
        limit = 2 * room + len(memory.resting)
        start = self._turns % len(sources)
        piles: list[deque[Pair]] = []
        for tournament_id in [*sources[start:], *sources[:start]]:
            absent = self._remote.waited_for(tournament_id)
            waiting = self._store.queue.waiting(tournament_id, limit, absent)
            ready = [one for one in waiting if one.game.id not in memory.resting]
            if len(ready) == len(waiting) < limit and not absent:
                memory.dry.add(tournament_id)
            if ready:
                piles.append(deque(list(pair) for _, pair in groupby(ready, key=lambda one: one.game.spec.pair)))
            elif not waiting and not absent:  # the tournament may be over, or go on: look at once
                memory.changed.add(tournament_id)
                self._wake()
        return piles

    def _submit(self, chosen: Sequence[Pair]) -> None:
        memory = self._memory
        ids = [one.game.id for pair in chosen for one in pair]
        try:
            mine = set(self._store.queue.hand_out(ids, self._owner))
        except StoreUnavailableError:
            memory.given_back.update(ids)  # nobody knows whether it was done
            raise
        for pair in chosen:
            kept = [one for one in pair if one.game.id in mine]
            if not kept:
                continue
            job = Job(kept[0].tournament_id, kept)
            games, job.executor = self._remote.ready(job.games), self._remote.executor(job.games, self._executor)
            future = job.executor.submit(play_bundled, games, self._place, True, self._spool)
            memory.jobs[future] = job
            memory.by_game.update((game.id, job) for game in job.games)
            future.add_done_callback(self._on_done)

    def call_off(self, futures: Sequence[Future[list[str]]]) -> None:
        """End these jobs, whatever they are at: the games without a result will wait again."""
        for future in futures:
            job = self._memory.jobs.get(future)
            if job is None or job.is_called_off:
                continue
            job.is_called_off = True
            if job.executor is not None and hasattr(job.executor, "call_off"):
                job.executor.call_off(future)
            else:
                future.cancel()

    def call_off_all(self) -> None:
        """End all jobs."""
        self.call_off(list(self._memory.jobs))

    def recall(self) -> None:
        """Take back what no slot has begun."""
        for future in self._memory.jobs:
            future.cancel()
