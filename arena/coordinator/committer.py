"""Commits the results of games, each exactly once, and counts void attempts.

A record leaves the spool when the database has committed or rejected it. Commits are tried again while the database is
unavailable.
"""

from __future__ import annotations

import contextlib
import time
from datetime import datetime, timedelta
from itertools import islice, takewhile

from arena.cluster.spool import Arrival
from arena.coordinator.context import CoordinatorContext
from arena.errors import BadValueError, ConflictError, NotFoundError, StoreUnavailableError
from arena.events.messages import EndState, GameAborted, GameEnded, RatingsChanged
from arena.log import logger
from arena.store.games.commit import Committed
from referee.game.record import GameRecord
from referee.rules.core import Kind, Termination

MAX_ATTEMPTS = {Termination.WORKER_LOST: 8, Termination.WORKER_WRONG: 8, Termination.SANDBOX_FAILED: 20}
"""Attempts at a game before it stays void: enough to outlast a bad hour, but no game may kill workers for ever."""
MAX_BATCH = 100
"""Maximum number of results in one transaction, as other processes write to the database too."""
MAX_BACKOFF_S = 300.0
"""Longest backoff of a game with void attempts."""


class Committer:
    """Commits the records that wait in `InFlightJobs.unrecorded`. Used in one thread."""

    def __init__(self, context: CoordinatorContext) -> None:
        self._store, self._bus, self._spool, self._owner = context.store, context.bus, context.spool, context.owner
        self._in_flight, self._metrics, self._clock = context.in_flight, context.metrics, context.clock
        self._rated: dict[str, RatingsChanged] = {}
        """By pool: its last result of this turn."""
        self._log = logger("coordinator")

    def commit_waiting(self) -> None:
        """Commit all waiting records, in order. Raises StoreUnavailableError."""
        try:
            while self._in_flight.unrecorded:
                self._record_next()
        except StoreUnavailableError:
            self._spool.sync()  # the outage may be long: a power failure must not lose results
            raise
        finally:
            for event in self._rated.values():
                self._bus.publish(event)
            self._rated.clear()

    def drop(self, arrival: Arrival, reason: str, detail: str) -> None:
        """Remove a record that the database will never commit. `reason` is for the metric, `detail` for the log."""
        self._log.warning("result dropped", game=arrival.record.id, reason=detail)
        self._metrics.dropped.labels(reason).inc()
        self._spool.forget(arrival.name)

    def _record_next(self) -> None:
        """Commit the first waiting result and, in the same transaction, those that follow it up to a void attempt."""
        waiting = self._in_flight.unrecorded
        together = list(takewhile(lambda entry: entry[0].record.kind is not Kind.VOID, islice(waiting, MAX_BATCH)))
        # A turn costs much the same for one result and for many: most of a commit is per transaction and statement.
        committed = self._commit_together([arrival.record for arrival, _ in together]) if len(together) > 1 else []
        for (arrival, tournament_id), result in zip(together, committed, strict=False):
            self._finish(arrival.record, tournament_id, self._note_committed(arrival, result))
            waiting.popleft()
        if not committed:
            for arrival, tournament_id in together or [waiting[0]]:
                self._record(arrival, tournament_id)
                waiting.popleft()

    def _commit_together(self, records: list[GameRecord]) -> list[Committed | None]:
        """Commit results in one transaction; return an empty list if any is rejected, so that each is tried alone."""
        begin = time.perf_counter()
        try:
            committed = self._store.results.commit_all(records, self._owner)
        except (BadValueError, ConflictError, NotFoundError):
            return []
        share = (time.perf_counter() - begin) / len(records)
        for _ in records:
            self._metrics.commit_seconds.observe(share)
        return committed

    def _record(self, arrival: Arrival, tournament_id: int) -> None:
        """Commit a record exactly once; a void game gets up to `MAX_ATTEMPTS` attempts in total."""
        try:
            end = self._void(arrival, tournament_id) if arrival.attempt else self._commit(arrival)
        except (BadValueError, ConflictError, NotFoundError) as error:
            self.drop(arrival, "refused", str(error))
            return
        self._finish(arrival.record, tournament_id, end)

    def _finish(self, record: GameRecord, tournament_id: int, end: tuple[EndState, int | None] | None) -> None:
        """Publish the end of a game unless it was over before; note a bot that failed to get ready for it."""
        if end is not None:
            self._publish_end(record, tournament_id, *end)
            if record.at_start and record.termination is not Termination.SUSPENDED:
                loser = record.first if record.loser == "first" else record.second
                self._in_flight.failed_starts.append((tournament_id, loser))

    def _void(self, arrival: Arrival, tournament_id: int) -> tuple[EndState, None] | None:
        """Store a void attempt; return the new state of its game, or None if it changes nothing."""
        record = arrival.record
        tries = len(self._store.voids.of(record.id)) + 1
        is_last = tries >= MAX_ATTEMPTS[record.termination]
        is_new = self._store.voids.add(record, arrival.attempt, self._owner, give_up=is_last)
        self._spool.forget(arrival.name)
        if not is_new:
            # A dispatch that no slot started gives its number back, so the attempt may be known from an earlier one.
            job = self._in_flight.by_game.get(record.id)
            if job and job.attempt(record.id) == arrival.attempt:
                self._in_flight.requeue({record.id}, tournament_id)
            return None
        self._metrics.voids.labels(record.termination.value).inc()
        if not is_last and tries > 1:
            # The first repetition is not delayed, as one lost worker says nothing about the others; then the pause
            # doubles.
            pause = timedelta(seconds=min(MAX_BACKOFF_S, 2.0 ** (tries - 2)))
            self._in_flight.backing_off[record.id] = self._clock() + pause
        self._in_flight.exhausted.discard(tournament_id)
        self._log.warning(
            "void", game=record.id, attempt=tries, termination=record.termination.value, detail=record.detail
        )
        return ("void" if is_last else "planned"), None

    def _commit(self, arrival: Arrival) -> tuple[EndState, int] | None:
        """Commit a result; return the state of its game and the commit number, or None if the game was over already."""
        with self._metrics.commit_seconds.time():
            committed = self._store.results.commit(arrival.record, self._owner)
        return self._note_committed(arrival, committed)

    def _note_committed(self, arrival: Arrival, committed: Committed | None) -> tuple[EndState, int] | None:
        """Remove a committed result from the spool and publish it."""
        record = arrival.record
        if committed is None:
            self.drop(arrival, "over", "the game is over already")
            return None
        self._spool.forget(arrival.name)
        self._metrics.games.labels(record.kind.value).inc()
        if (seconds := _seconds(record)) is not None:
            self._metrics.game_seconds.observe(seconds)
        if committed.changes:
            self._rated[committed.pool] = RatingsChanged(
                pool=committed.pool, game=record.id, commit_number=committed.number
            )
        return "finished", committed.number

    def _publish_end(self, record: GameRecord, tournament_id: int, state: EndState, commit_number: int | None) -> None:
        if state == "planned":
            self._bus.publish(GameAborted(game=record.id))
        end = GameEnded(
            game=record.id,
            tournament=tournament_id,
            winner=record.winner,
            termination=record.termination.value,
            termination_class=record.kind.value,
            detail=record.detail,
            commit_number=commit_number,
            state=state,
        )
        self._bus.publish(end)


def _seconds(record: GameRecord) -> float | None:
    """Return the duration of a game by the times in its record, or None if these are invalid."""
    with contextlib.suppress(ValueError, TypeError):
        duration = datetime.fromisoformat(record.finished) - datetime.fromisoformat(record.started)
        # Clocks of workers may be set back during a game.
        return max(0.0, duration.total_seconds())
    return None
