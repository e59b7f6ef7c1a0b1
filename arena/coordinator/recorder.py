"""Makes the results of games part of the arena, each exactly once; games that came to nothing wait again.

A result is read from the spool and from nowhere else; that a slot has finished a game, or a job is over, is a hint to
look there. It leaves the spool when the database has taken it or will never do so. What the database cannot take now,
it is given again. Refuses to know what a result means for its tournament.
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

from arena.coordinator.inspection import Inspection
from arena.coordinator.memory import Job, Memory
from arena.events.bus import EventBus
from arena.events.messages import EndState, GameGone, GameStarted, RatingsChanged, TournamentGameEnded
from arena.log import logger
from arena.metrics import RefereeMetrics
from arena.spool import Spool
from arena.store import BadValueError, ConflictError, NotFoundError, Store, StoreUnavailableError
from arena.store.commit import Committed
from referee.pool import JobError, WorkerLostError
from referee.record import GameRecord, read_record
from referee.rules.core import Kind, Termination
from referee.spec import PlannedGame
from referee.unplayed import void_record

T = TypeVar("T")
TRIES = {Termination.WORKER_LOST: 8, Termination.WORKER_WRONG: 8, Termination.SANDBOX_FAILED: 20}
"""How often a game is tried before it stays void: outlasts a bad hour, but no game kills workers for ever."""
TOGETHER = 100
"""How many results go into one transaction at most: others write to the database as well."""
LONGEST_REST_S = 300.0
"""How long a game that came to nothing again and again rests at most before it is tried once more."""


class Recorder:
    """`game_began`, `game_ended` and `job_done` may be called from any thread, `wake` asks for a turn; all else is one
    thread's."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        memory: Memory,
        spool: Spool,
        *,
        owner: str,
        inspection: Inspection,
        metrics: RefereeMetrics,
        clock: Callable[[], datetime],
        wake: Callable[[], None],
    ) -> None:
        self._store, self._bus, self._memory, self._spool = store, bus, memory, spool
        self._owner, self._metrics, self._clock, self._wake = owner, metrics, clock, wake
        self._inspection = inspection
        self._done: queue.SimpleQueue[Future[list[str]]] = queue.SimpleQueue()
        self._begun: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._waited: set[str] = set()
        """The results that waited when they were last looked at."""
        self._log = logger("coordinator")

    # -- news from the executor ----------------------------------------------------------------------------------------

    def game_began(self, game_id: str) -> None:
        """A slot has begun a game."""
        self._begun.put(game_id)
        self._wake()

    def game_ended(self, game_id: str) -> None:
        """The result of a game is in the spool."""
        self._ended.put(game_id)
        self._wake()

    def job_done(self, future: Future[list[str]]) -> None:
        """A job is over."""
        self._done.put(future)
        self._wake()

    # -- from memory to the database -----------------------------------------------------------------------------------

    def collect(self) -> None:
        """Mark games that began, and record the results that have come in. Raises StoreUnavailableError."""
        memory = self._memory
        self._take_news()
        for future in drained(self._done):
            if job := memory.jobs.pop(future, None):
                self._take_in(future, job)
                for game in job.games:
                    if memory.by_game.get(game.id) is job:  # not handed out again meanwhile
                        del memory.by_game[game.id]
        playing = [game_id for game_id in memory.begun if game_id in memory.by_game]
        if playing:
            self._store.queue.start(*playing)
        memory.begun.clear()
        self._metrics.busy.set(sum(bool(job.playing) for job in memory.jobs.values()))
        try:
            while memory.unrecorded:
                self._record_next()
        except StoreUnavailableError:
            self._spool.sync()  # it may take long: even the end of this machine is to lose none
            raise
        if memory.given_back:
            self._store.queue.give_back(lease_owner=self._owner, ids=sorted(memory.given_back))
            for game_id in memory.given_back:
                self._bus.publish(GameGone(game=game_id))
            memory.given_back.clear()

    def restore(self) -> None:
        """Take up the results that wait: of games of jobs that are not over yet, of this process's past, of others.

        To be called by the owner of the lease, before it hands out games. Raises StoreUnavailableError.
        """
        for game_id in self._look(self._spool.ids()):
            if game_id not in self._memory.by_game:
                self._log.info("result restored", game=game_id)

    def _look(self, game_ids: Iterable[str]) -> list[str]:
        """Take up the results of these games that are in the spool and were not taken up yet; whose there were."""
        known = {record.id for record, _ in self._memory.unrecorded}
        return [
            game_id
            for game_id in game_ids
            if game_id not in known and (record := self._spool.read(game_id)) and self._take_up(record)
        ]

    def _take_up(self, record: GameRecord) -> bool:
        """Have a result that waits recorded, whoever left it; False where its game awaits none."""
        job = self._memory.by_game.get(record.id)
        tournament = job.tournament_id if job else self._awaits(record)
        if tournament is None:
            return False
        if job:
            job.brought.add(record.id)
            if job.is_over:
                self._memory.changed.add(tournament)
        inspected = self._inspected(record.worker, [record], job.games if job else None)
        self._memory.unrecorded.extend((one, tournament) for one in inspected)
        return True

    def review(self) -> None:
        """Drop the results that still wait, as they did at the last look, although their games are over.

        For who stands by. What had not waited then may be just about to be recorded. Raises StoreUnavailableError.
        """
        before, self._waited = self._waited, set(self._spool.ids())
        for game_id in before & self._waited:
            if record := self._spool.read(game_id):
                self._awaits(record)

    def _awaits(self, record: GameRecord) -> int | None:
        """The tournament whose game awaits this result; None when it does not any more, and the result is dropped."""
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
        """A result that the database will never take."""
        self._log.warning("result dropped", game=record.id, reason=words)
        self._metrics.dropped.labels(reason).inc()
        self._spool.forget(record.id)

    def _take_news(self) -> None:
        """What slots have told of games."""
        self._look(drained(self._ended))
        for game_id in drained(self._begun):
            if job := self._memory.by_game.get(game_id):
                self._note_begun(game_id, job)

    def _note_begun(self, game_id: str, job: Job) -> None:
        job.playing = game_id
        self._memory.begun.append(game_id)
        attempt = next(one.attempt for one in job.waiting if one.game.id == game_id) + 1
        self._bus.publish(GameStarted(game=game_id, tournament=job.tournament_id, attempt=attempt))

    def _take_in(self, future: Future[list[str]], job: Job) -> None:
        """What became of the games of a job that is over: those without a result are handed out again."""
        memory = self._memory
        self._look(game.id for game in job.games if game.id not in job.brought)
        left = [game for game in job.games if game.id not in job.brought]
        voids = self._inspected(getattr(future, "worker", ""), self._voids(future, job, left), left)
        stand = [record for record in voids if record.termination is not Termination.STOPPED]
        memory.unrecorded.extend((record, job.tournament_id) for record in stand)
        again = {game.id for game in left} - {record.id for record in stand}
        memory.given_back |= again
        memory.changed.add(job.tournament_id)
        if again:
            memory.dry.discard(job.tournament_id)

    def _voids(self, future: Future[list[str]], job: Job, left: Sequence[PlannedGame]) -> list[GameRecord]:
        """The attempts that came to nothing, of the games of a job that are `left` without a result."""
        try:
            records = [read_record(line) for line in future.result()]
        except CancelledError:
            return []
        except (WorkerLostError, JobError) as error:
            problem = str(error)
        except Exception as error:  # an executor's own: the network, a scheduler that died; or no answer of ours
            problem = f"{type(error).__name__}: {error}"
        else:
            known = {game.id for game in left}
            voids = [record for record in records if record.kind is Kind.VOID and record.id in known]
            if voids or not left:
                return voids
            problem = "its worker brought no result"
        # The one that was being played is charged with it, or the first that is left.
        charged = next((game for game in left if game.id == job.playing), None) or next(iter(left), None)
        return [void_record(charged, Termination.WORKER_LOST, problem)] if charged else []

    def _inspected(
        self, worker: str, records: list[GameRecord], games: Sequence[PlannedGame] | None = None
    ) -> list[GameRecord]:
        """What may be recorded of what a worker of a cluster has brought; `games` are those it was asked for."""
        if not worker:
            return records
        if games is None:
            games = [PlannedGame(record.id, self._store.games.spec(record.id)) for record in records]
        found = self._inspection.passed(worker, games, records)
        for record in found:
            if record.kind is Kind.VOID:
                self._spool.forget(record.id)
        return found

    def _record_next(self) -> None:
        """Record what is first in the line, with the results behind it that can go into the same transaction."""
        waiting = self._memory.unrecorded
        together = list(takewhile(lambda one: one[0].kind is not Kind.VOID, islice(waiting, TOGETHER)))
        found = self._commit_together([record for record, _ in together]) if len(together) > 1 else []
        for (record, tournament_id), committed in zip(together, found, strict=False):
            self._tell(record, tournament_id, self._note_committed(record, committed))
            waiting.popleft()
        if not found:
            for record, tournament_id in together or [waiting[0]]:
                self._record(record, tournament_id)
                waiting.popleft()

    def _commit_together(self, records: list[GameRecord]) -> list[Committed | None]:
        """Commit results; nothing where one of them is refused: which, is seen one by one."""
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
        """Make a record part of the arena, exactly once; a void one is played again, or given up after `TRIES`."""
        try:
            found = self._void(record, tournament_id) if record.kind is Kind.VOID else self._commit(record)
        except (BadValueError, ConflictError, NotFoundError) as error:
            self._drop(record, "refused", str(error))
            return
        self._tell(record, tournament_id, found)

    def _tell(self, record: GameRecord, tournament_id: int, found: tuple[EndState, int | None] | None) -> None:
        """Tell what became of a game that was not over; who did not get ready for it is noted."""
        if found is not None:
            self._tell_end(record, tournament_id, *found)
            if record.at_start and record.termination is not Termination.SUSPENDED:
                loser = record.first if record.loser == "first" else record.second
                self._memory.failed.append((tournament_id, loser))

    def _void(self, record: GameRecord, tournament_id: int) -> tuple[EndState, None] | None:
        """Note an attempt that came to nothing; the state of its game now, None when that was over already."""
        tries = len(self._store.voids.of(record.id)) + 1
        is_last = tries >= TRIES[record.termination]
        if not self._store.voids.add(record, self._owner, give_up=is_last):
            return None
        self._metrics.voids.labels(record.termination.value).inc()
        if not is_last and tries > 1:
            rest = timedelta(seconds=min(LONGEST_REST_S, 2.0 ** (tries - 2)))
            self._memory.resting[record.id] = self._clock() + rest
        self._memory.dry.discard(tournament_id)
        self._log.warning(
            "void", game=record.id, attempt=tries, termination=record.termination.value, detail=record.detail
        )
        return ("void" if is_last else "planned"), None

    def _commit(self, record: GameRecord) -> tuple[EndState, int] | None:
        """Commit a result; the state of its game and the commit number, None when it was over already."""
        with self._metrics.commit_seconds.time():
            committed = self._store.results.commit(record, self._owner)
        return self._note_committed(record, committed)

    def _note_committed(self, record: GameRecord, committed: Committed | None) -> tuple[EndState, int] | None:
        """A result needs not wait any more: the database has it, or the game was over already."""
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

    def _tell_end(self, record: GameRecord, tournament_id: int, state: EndState, commit_number: int | None) -> None:
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

    def hand_back(self) -> None:
        """Whatever is still out waits again: this process will not bring it. What is in the spool stays there."""
        memory = self._memory
        left = [game.id for job in memory.jobs.values() for game in job.games]
        with contextlib.suppress(StoreUnavailableError):  # whoever takes over does it then
            self._store.queue.give_back(lease_owner=self._owner, ids=[*left, *memory.given_back])
            self._store.checks.give_back()
        memory.forget()


def drained(waiting: queue.SimpleQueue[T]) -> list[T]:
    """All that waits in a queue now."""
    found = []
    with contextlib.suppress(queue.Empty):
        while True:
            found.append(waiting.get_nowait())
    return found


def _seconds(record: GameRecord) -> float | None:
    """How long a game took by its own times; None where they do not say."""
    with contextlib.suppress(ValueError, TypeError):
        found = datetime.fromisoformat(record.finished) - datetime.fromisoformat(record.started)
        return max(0.0, found.total_seconds())
    return None
