"""Dispatches planned games to the executor: round robin over the running tournaments, one pair at a time (the games of
one opening).

Tournaments of lower priority get the slots that those of higher priority leave free.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from datetime import datetime
from itertools import groupby
from pathlib import Path

from arena.cluster.game_runner import BundlePlace, play_bundled
from arena.coordinator.executors import slots_of
from arena.coordinator.in_flight import InFlightJobs, Job
from arena.coordinator.remote_games import RemoteGames
from arena.errors import StoreUnavailableError
from arena.store import Store
from arena.store.tournaments.queue import PendingGame
from arena.store.tournaments.tournaments import LiveTournament

Pair = list[PendingGame]
"""The games of one opening that are still to be played."""


def _priority(found: LiveTournament) -> int:
    return found.priority


class JobDispatcher:
    """The dispatcher of one coordinator.

    Workers read bundles at `place`; slots of this machine write results to `spool` (None: no local slots). `on_done` is
    called in any thread with the future of a finished job; `wake` requests another turn at once.
    """

    def __init__(
        self,
        store: Store,
        executor: Executor,
        in_flight: InFlightJobs,
        *,
        owner: str,
        place: BundlePlace,
        spool: Path | None,
        remote: RemoteGames,
        clock: Callable[[], datetime],
        on_done: Callable[[Future[list[str]]], None],
        wake: Callable[[], None],
    ) -> None:
        self._store, self._executor, self._in_flight = store, executor, in_flight
        self._owner, self._place, self._clock = owner, place, clock
        self._on_done, self._wake = on_done, wake
        self._spool = spool
        self._remote = remote
        self._turns = 0

    @property
    def room(self) -> int:
        """Greatest number of jobs in flight: twice the number of slots, which changes as workers come and go."""
        return 2 * slots_of(self._executor)

    def waited_for(self, tournament_id: int) -> frozenset[str]:
        """Return the remote bots that a tournament must wait for: their games may not be dispatched yet."""
        return self._remote.waited_for(tournament_id)

    def dispatch(self, running: Sequence[LiveTournament]) -> None:
        """Submit jobs until `room` jobs are in flight. Raises StoreUnavailableError."""
        in_flight = self._in_flight
        room = self.room - len(in_flight.jobs)
        sources = [found for found in running if found.id not in in_flight.exhausted]
        if room <= 0 or not sources:
            return
        self._remote.look(in_flight.jobs.values())
        self._turns += 1
        chosen: list[Pair] = []
        sources.sort(key=_priority, reverse=True)
        for _, equals in groupby(sources, key=_priority):
            if len(chosen) < room:  # lower priorities share the rest
                chosen += self._choose([found.id for found in equals], room - len(chosen))
        if chosen:
            self._submit(chosen)

    def _choose(self, sources: Sequence[int], room: int) -> list[Pair]:
        """Choose at most `room` pairs from these tournaments, round robin."""
        in_flight = self._in_flight
        piles = self._piles(sources, room)
        chosen: list[Pair] = []
        while piles and len(chosen) < room:
            for pile in piles[: room - len(chosen)]:
                tournament_id = pile[0][0].tournament_id
                if self._remote.admits(pile[0]):
                    chosen.append(pile.popleft())
                else:  # its remote bot accepts no more games
                    in_flight.exhausted.discard(tournament_id)
                    pile.popleft()
            piles = [pile for pile in piles if pile]
        for pile in piles:  # some of its pairs were not chosen
            in_flight.exhausted.discard(pile[0][0].tournament_id)
        return chosen

    def _piles(self, sources: Sequence[int], room: int) -> list[deque[Pair]]:
        """Return the pairs that are ready to be played, by tournament; each turn starts with another tournament."""
        in_flight, at = self._in_flight, self._clock()
        for game in [game for game, until in in_flight.backing_off.items() if until <= at]:
            del in_flight.backing_off[game]
        limit = 2 * room + len(in_flight.backing_off)
        start = self._turns % len(sources)
        piles: list[deque[Pair]] = []
        for tournament_id in [*sources[start:], *sources[:start]]:
            absent = self._remote.waited_for(tournament_id)
            waiting = self._store.queue.waiting(tournament_id, limit, absent)
            ready = [one for one in waiting if one.game.id not in in_flight.backing_off]
            if len(ready) == len(waiting) < limit and not absent:
                in_flight.exhausted.add(tournament_id)
            if ready:
                piles.append(deque(list(pair) for _, pair in groupby(ready, key=lambda one: one.game.spec.pair)))
            elif not waiting and not absent:  # the tournament may be over, or plan more games: check at once
                in_flight.changed.add(tournament_id)
                self._wake()
        return piles

    def _submit(self, chosen: Sequence[Pair]) -> None:
        in_flight = self._in_flight
        ids = [one.game.id for pair in chosen for one in pair]
        try:
            mine = set(self._store.queue.hand_out(ids, self._owner))
        except StoreUnavailableError:
            in_flight.to_requeue.update(ids)  # the commit may have succeeded
            raise
        for pair in chosen:
            kept = [one for one in pair if one.game.id in mine]
            if not kept:
                continue
            job = Job(kept[0].tournament_id, kept)
            games, job.executor = self._remote.ready(job.games), self._remote.executor(job.games, self._executor)
            future = job.executor.submit(play_bundled, games, self._place, True, self._spool)
            in_flight.jobs[future] = job
            in_flight.by_game.update((game.id, job) for game in job.games)
            future.add_done_callback(self._on_done)

    def call_off(self, futures: Sequence[Future[list[str]]]) -> None:
        """Cancel these jobs, even running ones; their games without a result are requeued."""
        for future in futures:
            job = self._in_flight.jobs.get(future)
            if job is None or job.is_called_off:
                continue
            job.is_called_off = True
            if job.executor is not None and hasattr(job.executor, "call_off"):
                job.executor.call_off(future)
            else:
                future.cancel()

    def call_off_all(self) -> None:
        """Cancel all jobs."""
        self.call_off(list(self._in_flight.jobs))

    def recall(self) -> None:
        """Cancel the jobs that no slot has started."""
        for future in self._in_flight.jobs:
            future.cancel()
