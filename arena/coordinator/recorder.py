"""Follows the games in flight: reads the records that arrive in the spool, and queues games without one again.

Results and void attempts are read from the spool only; events about finished games and jobs are hints to look there.
"""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Iterable
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from typing import TypeVar

from arena.cluster.spool import Arrival, name_of
from arena.coordinator.auditor import ResultAuditor
from arena.coordinator.committer import Committer
from arena.coordinator.context import CoordinatorContext, Job
from arena.errors import NotFoundError, StoreUnavailableError
from arena.events.messages import GameAborted, GameStarted
from arena.log import logger
from referee.game.spec import PlannedGame
from referee.game.unplayed import void_record
from referee.machine.pool import JobError, WorkerLostError
from referee.rules.core import Kind, Termination

T = TypeVar("T")


class Recorder:
    """Records games. `game_began`, `game_ended` and `job_done` are thread-safe, all else is used in one thread."""

    def __init__(self, context: CoordinatorContext, auditor: ResultAuditor) -> None:
        self._store, self._bus, self._spool, self._owner = context.store, context.bus, context.spool, context.owner
        self._in_flight, self._metrics, self._wakeup = context.in_flight, context.metrics, context.wakeup
        self._auditor, self._committer = auditor, Committer(context)
        self._done: queue.SimpleQueue[Future[None]] = queue.SimpleQueue()
        self._started: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._waited: set[str] = set()
        """The names of the records that waited at the last review."""
        self._log = logger("coordinator")

    # -- events of the executor ----------------------------------------------------------------------------------------

    def game_began(self, game_id: str) -> None:
        """Handle the start of a game in a slot."""
        self._started.put(game_id)
        self._wake()

    def game_ended(self, game_id: str) -> None:
        """Handle the arrival of a result or a void attempt in the spool."""
        self._ended.put(game_id)
        self._wake()

    def job_done(self, future: Future[None]) -> None:
        self._done.put(future)
        self._wake()

    def _wake(self) -> None:
        """Let the next turn begin at once if at least half of the jobs in flight have ended: then slots may have run
        out of jobs. Otherwise let it begin after a short time in which more may end.
        """
        if 2 * self._done.qsize() >= len(self._in_flight.jobs):
            self._wakeup.now()
        else:
            self._wakeup.soon()

    # -- from the spool to the database --------------------------------------------------------------------------------

    def collect(self) -> None:
        """Mark started games as running, and commit the records that have arrived. Raises StoreUnavailableError."""
        in_flight = self._in_flight
        self._handle_events()
        for future in drained(self._done):
            if job := in_flight.jobs.pop(future, None):
                self._end_job(future, job)
                for game in job.games:
                    if in_flight.by_game.get(game.id) is job:  # not dispatched again meanwhile
                        del in_flight.by_game[game.id]
        # What has ended already need not be marked: its result is committed below.
        over = {arrival.record.id for arrival, _ in in_flight.unrecorded if arrival.record.kind is not Kind.VOID}
        playing = [game_id for game_id in in_flight.started if game_id in in_flight.by_game and game_id not in over]
        if playing:
            self._store.queue.start(*playing)
        in_flight.started.clear()
        self._metrics.busy.set(sum(bool(job.playing) for job in in_flight.jobs.values()))
        self._committer.commit_waiting()
        if in_flight.to_requeue:
            self._store.queue.give_back(lease_owner=self._owner, ids=sorted(in_flight.to_requeue))
            for game_id in in_flight.to_requeue:
                self._bus.publish(GameAborted(game=game_id))
            in_flight.to_requeue.clear()

    def restore(self) -> None:
        """Read the waiting records of running jobs, of earlier runs of this process, and of other processes.

        The owner of the lease must call this before it dispatches games. Raises StoreUnavailableError.
        """
        for arrival in self._read(self._spool.names()):
            if arrival.record.id not in self._in_flight.by_game:
                self._log.info("result restored", game=arrival.record.id)

    def _read(self, names: Iterable[str]) -> list[Arrival]:
        """Read the new records with these names from the spool; return those whose games wait for one."""
        known = {arrival.name for arrival, _ in self._in_flight.unrecorded}
        return [
            arrival
            for name in names
            if name not in known and (arrival := self._spool.read(name)) and self._queue_commit(arrival)
        ]

    def _read_games(self, game_ids: Iterable[str]) -> None:
        """Read the results of these games, and the void attempts of those in flight."""
        for game_id in game_ids:
            job = self._in_flight.by_game.get(game_id)
            if not self._read([game_id]) and job:
                self._read([name_of(game_id, job.attempt(game_id))])

    def _queue_commit(self, arrival: Arrival) -> bool:
        """Queue a record to be committed; return False if its game does not wait for one."""
        record = arrival.record
        job = self._in_flight.by_game.get(record.id)
        tournament = job.tournament_id if job else self._awaits(arrival)
        if tournament is None:
            return False
        if job:
            self._note_arrival(job, arrival)
        if record.termination is Termination.STOPPED:  # the arena stopped it: no attempt to be counted
            self._spool.forget(arrival.name)
            return True
        if record.worker:
            arrival = self._audited(arrival, job)
        self._in_flight.unrecorded.append((arrival, tournament))
        return True

    def _note_arrival(self, job: Job, arrival: Arrival) -> None:
        """Note the record of a game in its job; a void attempt of an earlier job does not end the present one."""
        game_id = arrival.record.id
        if arrival.attempt and arrival.attempt != job.attempt(game_id):
            return
        job.delivered.add(game_id)
        job.has_void = job.has_void or bool(arrival.attempt)
        if arrival.record.termination is Termination.STOPPED:
            self._in_flight.requeue({game_id}, job.tournament_id)
        if job.is_over:
            self._in_flight.changed.add(job.tournament_id)

    def review(self) -> None:
        """Drop records in the spool whose games are over. Standby processes call this.

        Records that arrived since the last review are kept: they may be about to be committed. Raises
        StoreUnavailableError.
        """
        before, self._waited = self._waited, set(self._spool.names())
        for name in before & self._waited:
            if arrival := self._spool.read(name):
                self._awaits(arrival)

    def _awaits(self, arrival: Arrival) -> int | None:
        """Return the tournament whose game waits for this record; drop the record and return None if none does."""
        try:
            game = self._store.games.get(arrival.record.id)
        except NotFoundError as error:
            self._committer.drop(arrival, "refused", str(error))
            return None
        if game.state in ("finished", "void", "cancelled"):
            self._committer.drop(arrival, "over", f"the game is {game.state}")
            return None
        return game.tournament_id

    def _handle_events(self) -> None:
        """Handle starts and ends of games in running jobs."""
        self._read_games(drained(self._ended))
        for game_id in drained(self._started):
            if job := self._in_flight.by_game.get(game_id):
                self._note_start(game_id, job)

    def _note_start(self, game_id: str, job: Job) -> None:
        job.playing = game_id
        self._in_flight.started.append(game_id)
        self._bus.publish(GameStarted(game=game_id, tournament=job.tournament_id, attempt=job.attempt(game_id)))

    def _end_job(self, future: Future[None], job: Job) -> None:
        """Handle the end of a job: its games without a record are queued again."""
        self._read_games(game.id for game in job.games if game.id not in job.delivered)
        left = [game for game in job.games if game.id not in job.delivered]
        if left and (problem := _problem_of(future, job)):
            # The void attempt is charged to the game that was being played, or else to the first one left.
            charged = next((game for game in left if game.id == job.playing), left[0])
            void = void_record(charged, Termination.WORKER_LOST, problem)
            self._spool.keep(replace(void, worker=getattr(future, "worker", "")), charged.attempt)
            self._read_games([charged.id])
        self._in_flight.requeue({game.id for game in left} - job.delivered, job.tournament_id)
        self._in_flight.changed.add(job.tournament_id)

    def _audited(self, arrival: Arrival, job: Job | None) -> Arrival:
        """Audit the record of a cluster worker: a void attempt takes the place of a result that does not count."""
        record = arrival.record
        if job:
            game = next(game for game in job.games if game.id == record.id)
        else:
            attempt = max(1, self._store.games.get(record.id).attempt)
            game = PlannedGame(record.id, self._store.games.spec(record.id), attempt)
        audited = self._auditor.audit(game, record)
        if audited.kind is not Kind.VOID:
            return arrival
        void = Arrival(audited, arrival.attempt or game.attempt)
        self._spool.keep(void.record, void.attempt)
        if void.name != arrival.name:
            self._spool.forget(arrival.name)
        return void

    def requeue_all(self) -> None:
        """Queue all games in flight again, as this process stops. Results in the spool stay there."""
        in_flight = self._in_flight
        left = [game.id for job in in_flight.jobs.values() for game in job.games]
        with contextlib.suppress(StoreUnavailableError):  # the next coordinator does it
            self._store.queue.give_back(lease_owner=self._owner, ids=[*left, *in_flight.to_requeue])
            self._store.checks.give_back()
        in_flight.forget()


def drained(waiting: queue.SimpleQueue[T]) -> list[T]:
    items = []
    with contextlib.suppress(queue.Empty):
        while True:
            items.append(waiting.get_nowait())
    return items


def _problem_of(future: Future[None], job: Job) -> str:
    """Return why a job has ended without a record of every game; empty if it was stopped, or broken off by a void."""
    try:
        future.result()
    except CancelledError:
        return ""
    except (WorkerLostError, JobError) as error:
        return str(error)
    except Exception as error:  # errors of the executor: network, scheduler
        return f"{type(error).__name__}: {error}"
    return "" if job.has_void else "its worker returned no result"
