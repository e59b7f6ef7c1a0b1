"""Dispatches planned games to the executor, one pair at a time (the games of one opening).

Running tournaments share the games that are handed out by their priorities, so that none waits for the end of another.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from itertools import groupby

from arena.cluster.game_runner import BundlePlace, play_bundled
from arena.coordinator.context import BATCH_WINDOW_S, CoordinatorContext, Job
from arena.coordinator.executors import slots_of
from arena.coordinator.remote_games import RemoteGames
from arena.coordinator.shares import Shares, weights
from arena.errors import StoreUnavailableError
from arena.store.tournaments.queue import PendingGame
from arena.store.tournaments.tournaments import LiveTournament

Pair = list[PendingGame]
"""The games of one opening that are still to be played."""


class JobDispatcher:
    """The dispatcher of one coordinator. `on_done` is called in any thread with the future of a finished job."""

    def __init__(
        self, context: CoordinatorContext, remote: RemoteGames, on_done: Callable[[Future[None]], None]
    ) -> None:
        settings = context.settings
        self._store, self._executor, self._in_flight = context.store, context.executor, context.in_flight
        self._owner, self._clock, self._wakeup = context.owner, context.clock, context.wakeup
        self._remote, self._on_done = remote, on_done
        self._place = BundlePlace.of_workers(settings)
        self._spool = None if settings.is_clustered else context.spool.folder
        """Where slots of this machine write results."""
        self._shares = Shares()
        self._ends: deque[datetime] = deque()
        """When the jobs of the last batch window ended."""

    @property
    def room(self) -> int:
        """Greatest number of jobs in flight: as many as ended in the last batch window, two to eight for each slot."""
        since = self._clock() - timedelta(seconds=BATCH_WINDOW_S)
        while self._ends and self._ends[0] < since:
            self._ends.popleft()
        # One job to play and one to begin in the same moment, as the next turn is still to come. Of short games more: a
        # turn comes when half of the jobs have ended, and costs the same for two of them as for twenty.
        slots = slots_of(self._executor)
        return max(2 * slots, min(8 * slots, len(self._ends)))

    def _end_job(self, future: Future[None]) -> None:
        """Note the end of a job; called in any thread."""
        self._ends.append(self._clock())
        self._on_done(future)

    def waited_for(self, tournament_id: int) -> frozenset[str]:
        """Return the remote bots that a tournament must wait for: their games may not be dispatched yet."""
        return self._remote.waited_for(tournament_id)

    def dispatch(self, running: Sequence[LiveTournament]) -> None:
        """Submit jobs until `room` jobs are in flight. Raises StoreUnavailableError."""
        in_flight = self._in_flight
        room = self.room - len(in_flight.jobs)
        sources = [tournament for tournament in running if tournament.id not in in_flight.exhausted]
        if room <= 0 or not sources:
            return
        self._remote.look(in_flight.jobs.values())
        chosen = self._choose({tournament.id: tournament.priority for tournament in sources}, room)
        if chosen:
            self._submit(chosen)

    def _choose(self, priorities: Mapping[int, int], room: int) -> list[Pair]:
        """Choose at most `room` pairs from tournaments with these priorities, by their shares."""
        in_flight, at = self._in_flight, self._clock()
        for game in [game for game, until in in_flight.backing_off.items() if until <= at]:
            del in_flight.backing_off[game]
        weight = weights(priorities)
        queue = [(self._shares.time(number), -weight[number], number) for number in priorities]
        heapq.heapify(queue)
        piles: dict[int, deque[Pair]] = {}
        chosen: list[Pair] = []
        while queue and len(chosen) < room:
            _, _, number = heapq.heappop(queue)
            if number not in piles:
                piles[number] = self._pile(number, room)
            pile = piles[number]
            if not pile:
                continue
            pair = pile.popleft()
            if self._remote.admits(pair):
                chosen.append(pair)
                self._shares.serve(number, len(pair), weight[number])
            else:  # its remote bot accepts no more games
                in_flight.exhausted.discard(number)
            heapq.heappush(queue, (self._shares.time(number), -weight[number], number))
        in_flight.exhausted -= {number for number, pile in piles.items() if pile}  # some pairs were not chosen
        return chosen

    def _pile(self, tournament_id: int, room: int) -> deque[Pair]:
        """Return the next pairs of a tournament that are ready to be played, at least `room` if there are enough."""
        in_flight = self._in_flight
        # A pair has two games; games that wait after a void attempt are among those read and cannot be used.
        limit = 2 * room + len(in_flight.backing_off)
        absent = self._remote.waited_for(tournament_id)
        waiting = self._store.queue.waiting(tournament_id, limit, absent)
        ready = [planned for planned in waiting if planned.game.id not in in_flight.backing_off]
        if len(ready) == len(waiting) < limit and not absent:
            in_flight.exhausted.add(tournament_id)
        if not waiting and not absent:  # the tournament may be over, or plan more games: check at once
            in_flight.changed.add(tournament_id)
            self._wakeup.now()
        return deque(list(pair) for _, pair in groupby(ready, key=lambda planned: planned.game.spec.pair))

    def _submit(self, chosen: Sequence[Pair]) -> None:
        in_flight = self._in_flight
        ids = [planned.game.id for pair in chosen for planned in pair]
        try:
            mine = set(self._store.queue.hand_out(ids, self._owner))
        except StoreUnavailableError:
            in_flight.to_requeue.update(ids)  # the commit may have succeeded
            raise
        for pair in chosen:
            kept = [planned for planned in pair if planned.game.id in mine]
            if not kept:
                continue
            job = Job(kept[0].tournament_id, kept)
            games, job.executor = self._remote.ready(job.games), self._remote.executor(job.games, self._executor)
            future = job.executor.submit(play_bundled, games, self._place, True, self._spool)
            in_flight.jobs[future] = job
            in_flight.by_game.update((game.id, job) for game in job.games)
            future.add_done_callback(self._end_job)

    def call_off(self, futures: Sequence[Future[None]]) -> None:
        """Cancel these jobs, even running ones; their games without a result are requeued."""
        for future in futures:
            job = self._in_flight.jobs.get(future)
            if job is None or job.is_called_off:
                continue
            job.is_called_off = True
            # An executor of the standard library can only cancel what has not begun; slots and clusters also end what
            # runs.
            if job.executor is not None and hasattr(job.executor, "call_off"):
                job.executor.call_off(future)
            else:
                future.cancel()

    def call_off_all(self) -> None:
        """Cancel all jobs: the lease is lost, or the time to finish is over."""
        self.call_off(list(self._in_flight.jobs))

    def recall(self) -> None:
        """Cancel the jobs that no slot has started."""
        for future in self._in_flight.jobs:
            future.cancel()
