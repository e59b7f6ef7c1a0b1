"""Commits the results of games, each exactly once; games with void attempts are queued again.

Results are read from the spool only; events about finished games and jobs are hints to look there. A result leaves the
spool when the database has committed or rejected it. Commits to an unavailable database are retried.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, Future
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import TypeVar

from arena.cluster.spool import Spool
from arena.coordinator.auditor import ResultAuditor
from arena.coordinator.in_flight import InFlightJobs, Job
from arena.errors import BadValueError, ConflictError, NotFoundError, StoreUnavailableError
from arena.events.bus import EventBus
from arena.events.messages import EndState, GameAborted, GameStarted, RatingsChanged, TournamentGameEnded
from arena.log import logger
from arena.metrics import CoordinatorMetrics
from arena.store import Store
from arena.store.games.commit import Committed
from referee.game.record import GameRecord, read_record
from referee.game.spec import PlannedGame
from referee.game.unplayed import void_record
from referee.machine.pool import JobError, WorkerLostError
from referee.rules.core import Kind, Termination

T = TypeVar("T")
MAX_ATTEMPTS = {Termination.WORKER_LOST: 8, Termination.WORKER_WRONG: 8, Termination.SANDBOX_FAILED: 20}
"""Attempts at a game before it stays void: enough to outlast a bad hour, but no game may kill workers for ever."""
MAX_BATCH = 100
"""Maximum number of results in one transaction, as other processes write to the database too."""
MAX_BACKOFF_S = 300.0
"""Longest backoff of a game with void attempts."""


class Recorder:
    """Commits results. `game_began`, `game_ended` and `job_done` are thread-safe, all else is used in one thread.

    `wake` requests that the coordinator's next turn begins soon.
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        in_flight: InFlightJobs,
        spool: Spool,
        *,
        owner: str,
        auditor: ResultAuditor,
        metrics: CoordinatorMetrics,
        clock: Callable[[], datetime],
        wake: Callable[[], None],
    ) -> None:
        self._store, self._bus, self._in_flight, self._spool = store, bus, in_flight, spool
        self._owner, self._metrics, self._clock, self._wake = owner, metrics, clock, wake
        self._auditor = auditor
        self._done: queue.SimpleQueue[Future[list[str]]] = queue.SimpleQueue()
        self._started: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._waited: set[str] = set()
        """The results that waited at the last review."""
        self._log = logger("coordinator")

    # -- events of the executor ----------------------------------------------------------------------------------------

    def game_began(self, game_id: str) -> None:
        """Handle the start of a game in a slot."""
        self._started.put(game_id)
        self._wake()

    def game_ended(self, game_id: str) -> None:
        """Handle the arrival of a result in the spool."""
        self._ended.put(game_id)
        self._wake()

    def job_done(self, future: Future[list[str]]) -> None:
        """Handle the end of a job."""
        self._done.put(future)
        self._wake()

    @property
    def ended_jobs(self) -> int:
        """Number of ended jobs that no turn has handled yet."""
        return self._done.qsize()

    # -- from the spool to the database --------------------------------------------------------------------------------

    def collect(self) -> None:
        """Mark started games as running, and commit the results that have arrived. Raises StoreUnavailableError."""
        in_flight = self._in_flight
        self._handle_events()
        for future in drained(self._done):
            if job := in_flight.jobs.pop(future, None):
                self._end_job(future, job)
                for game in job.games:
                    if in_flight.by_game.get(game.id) is job:  # not dispatched again meanwhile
                        del in_flight.by_game[game.id]
        playing = [game_id for game_id in in_flight.started if game_id in in_flight.by_game]
        if playing:
            self._store.queue.start(*playing)
        in_flight.started.clear()
        self._metrics.busy.set(sum(bool(job.playing) for job in in_flight.jobs.values()))
        try:
            while in_flight.unrecorded:
                self._record_next()
        except StoreUnavailableError:
            self._spool.sync()  # the outage may be long: a power failure must not lose results
            raise
        if in_flight.to_requeue:
            self._store.queue.give_back(lease_owner=self._owner, ids=sorted(in_flight.to_requeue))
            for game_id in in_flight.to_requeue:
                self._bus.publish(GameAborted(game=game_id))
            in_flight.to_requeue.clear()

    def restore(self) -> None:
        """Read the waiting results of running jobs, of earlier runs of this process, and of other processes.

        The owner of the lease must call this before it dispatches games. Raises StoreUnavailableError.
        """
        for game_id in self._read_results(self._spool.ids()):
            if game_id not in self._in_flight.by_game:
                self._log.info("result restored", game=game_id)

    def _read_results(self, game_ids: Iterable[str]) -> list[str]:
        """Read the new results of these games from the spool; return the games that have one."""
        known = {record.id for record, _ in self._in_flight.unrecorded}
        return [
            game_id
            for game_id in game_ids
            if game_id not in known and (record := self._spool.read(game_id)) and self._queue_commit(record)
        ]

    def _queue_commit(self, record: GameRecord) -> bool:
        """Queue a result to be committed; return False if its game does not wait for one."""
        job = self._in_flight.by_game.get(record.id)
        tournament = job.tournament_id if job else self._awaits(record)
        if tournament is None:
            return False
        if job:
            job.delivered.add(record.id)
            if job.is_over:
                self._in_flight.changed.add(tournament)
        audited = self._audited(record.worker, [record], job.games if job else None)
        self._in_flight.unrecorded.extend((one, tournament) for one in audited)
        return True

    def review(self) -> None:
        """Drop results in the spool whose games are over. Standby processes call this.

        Results that arrived since the last review are kept: they may be about to be committed. Raises
        StoreUnavailableError.
        """
        before, self._waited = self._waited, set(self._spool.ids())
        for game_id in before & self._waited:
            if record := self._spool.read(game_id):
                self._awaits(record)

    def _awaits(self, record: GameRecord) -> int | None:
        """Return the tournament whose game waits for this result; drop the result and return None if none does."""
        try:
            game = self._store.games.get(record.id)
        except NotFoundError as error:
            self._drop(record, "refused", str(error))
            return None
        if game.state in ("finished", "void", "cancelled"):
            self._drop(record, "over", f"the game is {game.state}")
            return None
        return game.tournament_id

    def _drop(self, record: GameRecord, reason: str, words: str) -> None:
        """Remove a result that the database will never commit."""
        self._log.warning("result dropped", game=record.id, reason=words)
        self._metrics.dropped.labels(reason).inc()
        self._spool.forget(record.id)

    def _handle_events(self) -> None:
        """Handle starts and ends of games in running jobs."""
        self._read_results(drained(self._ended))
        for game_id in drained(self._started):
            if job := self._in_flight.by_game.get(game_id):
                self._note_start(game_id, job)

    def _note_start(self, game_id: str, job: Job) -> None:
        job.playing = game_id
        self._in_flight.started.append(game_id)
        attempt = next(one.attempt for one in job.waiting if one.game.id == game_id) + 1
        self._bus.publish(GameStarted(game=game_id, tournament=job.tournament_id, attempt=attempt))

    def _end_job(self, future: Future[list[str]], job: Job) -> None:
        """Handle the end of a job: its games without a result are queued again."""
        in_flight = self._in_flight
        self._read_results(game.id for game in job.games if game.id not in job.delivered)
        left = [game for game in job.games if game.id not in job.delivered]
        voids = self._audited(getattr(future, "worker", ""), self._voids(future, job, left), left)
        stand = [record for record in voids if record.termination is not Termination.STOPPED]
        in_flight.unrecorded.extend((record, job.tournament_id) for record in stand)
        again = {game.id for game in left} - {record.id for record in stand}
        in_flight.to_requeue |= again
        in_flight.changed.add(job.tournament_id)
        if again:
            in_flight.exhausted.discard(job.tournament_id)

    def _voids(self, future: Future[list[str]], job: Job, left: Sequence[PlannedGame]) -> list[GameRecord]:
        """Return void attempts for the games of a job that are `left` without a result."""
        try:
            records = [read_record(line) for line in future.result()]
        except CancelledError:
            return []
        except (WorkerLostError, JobError) as error:
            problem = str(error)
        except Exception as error:  # errors of the executor (network, scheduler), or an invalid answer
            problem = f"{type(error).__name__}: {error}"
        else:
            known = {game.id for game in left}
            voids = [record for record in records if record.kind is Kind.VOID and record.id in known]
            if voids or not left:
                return voids
            problem = "its worker returned no result"
        # The void attempt is charged to the game that was being played, or else to the first one left.
        charged = next((game for game in left if game.id == job.playing), None) or next(iter(left), None)
        return [void_record(charged, Termination.WORKER_LOST, problem)] if charged else []

    def _audited(
        self, worker: str, records: list[GameRecord], games: Sequence[PlannedGame] | None = None
    ) -> list[GameRecord]:
        """Return the audited records of a cluster worker; `games` are those of its job."""
        if not worker:
            return records
        if games is None:
            games = [PlannedGame(record.id, self._store.games.spec(record.id)) for record in records]
        found = self._auditor.audit(worker, games, records)
        for record in found:
            if record.kind is Kind.VOID:
                self._spool.forget(record.id)
        return found

    def _record_next(self) -> None:
        """Commit the first waiting result and, in the same transaction, those that follow it up to a void attempt."""
        waiting = self._in_flight.unrecorded
        together = list(takewhile(lambda one: one[0].kind is not Kind.VOID, islice(waiting, MAX_BATCH)))
        found = self._commit_together([record for record, _ in together]) if len(together) > 1 else []
        for (record, tournament_id), committed in zip(together, found, strict=False):
            self._finish(record, tournament_id, self._note_committed(record, committed))
            waiting.popleft()
        if not found:
            for record, tournament_id in together or [waiting[0]]:
                self._record(record, tournament_id)
                waiting.popleft()

    def _commit_together(self, records: list[GameRecord]) -> list[Committed | None]:
        """Commit results in one transaction; return an empty list if any is rejected, so that each is tried alone."""
        begin = time.perf_counter()
        try:
            found = self._store.results.commit_all(records, self._owner)
        except (BadValueError, ConflictError, NotFoundError):
            return []
        share = (time.perf_counter() - begin) / len(records)
        for _ in records:
            self._metrics.commit_seconds.observe(share)
        return found

    def _record(self, record: GameRecord, tournament_id: int) -> None:
        """Commit a record exactly once; a void game gets up to `MAX_ATTEMPTS` attempts in total."""
        try:
            found = self._void(record, tournament_id) if record.kind is Kind.VOID else self._commit(record)
        except (BadValueError, ConflictError, NotFoundError) as error:
            self._drop(record, "refused", str(error))
            return
        self._finish(record, tournament_id, found)

    def _finish(self, record: GameRecord, tournament_id: int, found: tuple[EndState, int | None] | None) -> None:
        """Publish the end of a game unless it was over before; note a bot that failed to get ready for it."""
        if found is not None:
            self._publish_end(record, tournament_id, *found)
            if record.at_start and record.termination is not Termination.SUSPENDED:
                loser = record.first if record.loser == "first" else record.second
                self._in_flight.failed_starts.append((tournament_id, loser))

    def _void(self, record: GameRecord, tournament_id: int) -> tuple[EndState, None] | None:
        """Store a void attempt; return the new state of its game, or None if the game was over already."""
        tries = len(self._store.voids.of(record.id)) + 1
        is_last = tries >= MAX_ATTEMPTS[record.termination]
        if not self._store.voids.add(record, self._owner, give_up=is_last):
            return None
        self._metrics.voids.labels(record.termination.value).inc()
        if not is_last and tries > 1:
            rest = timedelta(seconds=min(MAX_BACKOFF_S, 2.0 ** (tries - 2)))
            self._in_flight.backing_off[record.id] = self._clock() + rest
        self._in_flight.exhausted.discard(tournament_id)
        self._log.warning(
            "void", game=record.id, attempt=tries, termination=record.termination.value, detail=record.detail
        )
        return ("void" if is_last else "planned"), None

    def _commit(self, record: GameRecord) -> tuple[EndState, int] | None:
        """Commit a result; return the state of its game and the commit number, or None if the game was over already."""
        with self._metrics.commit_seconds.time():
            committed = self._store.results.commit(record, self._owner)
        return self._note_committed(record, committed)

    def _note_committed(self, record: GameRecord, committed: Committed | None) -> tuple[EndState, int] | None:
        """Remove a committed result from the spool and publish it."""
        if committed is None:
            self._drop(record, "over", "the game is over already")
            return None
        self._spool.forget(record.id)
        self._metrics.games.labels(record.kind.value).inc()
        if (seconds := _seconds(record)) is not None:
            self._metrics.game_seconds.observe(seconds)
        if committed.changes:
            self._bus.publish(RatingsChanged(pool=committed.pool, game=record.id, commit_number=committed.number))
        return "finished", committed.number

    def _publish_end(self, record: GameRecord, tournament_id: int, state: EndState, commit_number: int | None) -> None:
        end = TournamentGameEnded(
            game=record.id,
            tournament=tournament_id,
            winner=record.winner,
            termination=record.termination.value,
            termination_class=record.kind.value,
            detail=record.detail,
            commit_number=commit_number,
            state=state,
        )
        self._bus.publish(end.of_game())
        self._bus.publish(end)

    def requeue_all(self) -> None:
        """Queue all games in flight again, as this process stops. Results in the spool stay there."""
        in_flight = self._in_flight
        left = [game.id for job in in_flight.jobs.values() for game in job.games]
        with contextlib.suppress(StoreUnavailableError):  # the next coordinator does it
            self._store.queue.give_back(lease_owner=self._owner, ids=[*left, *in_flight.to_requeue])
            self._store.checks.give_back()
        in_flight.forget()


def drained(waiting: queue.SimpleQueue[T]) -> list[T]:
    """Remove and return all items of a queue."""
    found = []
    with contextlib.suppress(queue.Empty):
        while True:
            found.append(waiting.get_nowait())
    return found


def _seconds(record: GameRecord) -> float | None:
    """Return the duration of a game by the times in its record, or None if these are invalid."""
    with contextlib.suppress(ValueError, TypeError):
        found = datetime.fromisoformat(record.finished) - datetime.fromisoformat(record.started)
        return max(0.0, found.total_seconds())
    return None
