"""The coordinator: fires schedules, starts tournaments, dispatches games, records results and updates ratings.

Only the owner of the lease acts; other processes are on standby. All state is in the database: after a crash, the next
coordinator requeues the games in flight and continues.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from arena.clock import now
from arena.cluster.game_runner import BundlePlace
from arena.cluster.spool import Spool
from arena.coordinator import background, cron
from arena.coordinator.analyst import Analyst
from arena.coordinator.archive_indexer import POLL_INTERVAL_S, ArchiveIndexer
from arena.coordinator.auditor import ResultAuditor, VerifierProcess
from arena.coordinator.background import Background, Conditions
from arena.coordinator.checks import SubmissionChecks, check_in_sandbox
from arena.coordinator.control import TournamentControl
from arena.coordinator.dispatcher import JobDispatcher
from arena.coordinator.entry_suspension import EntrySuspender
from arena.coordinator.executors import remote_pool, slots_of, workers_of
from arena.coordinator.human_games import HumanGames
from arena.coordinator.importer import ArchiveImporter
from arena.coordinator.in_flight import InFlightJobs
from arena.coordinator.leadership import LEASE, Leadership
from arena.coordinator.lobby import Lobby
from arena.coordinator.maintenance import Maintenance
from arena.coordinator.outage_log import OutageLog
from arena.coordinator.problem_prover import ProblemProver
from arena.coordinator.recorder import Recorder, drained
from arena.coordinator.remote_games import RemoteGames
from arena.errors import LeaseLostError, SchemaError, StoreError, StoreUnavailableError
from arena.events.bus import EventBus
from arena.events.messages import (
    CoordinatorChanged,
    CoordinatorState,
    CoordinatorWakeup,
    HumanActed,
    SlotFinished,
    SlotStarted,
)
from arena.log import logger
from arena.metrics import CoordinatorMetrics
from arena.store import Store
from arena.store.bots.presences import REPORT_INTERVAL_S

if TYPE_CHECKING:
    from arena.config import Settings

T = TypeVar("T")
TICK_INTERVAL_S = 1.0
"""Longest pause between two turns: the greatest delay of schedules and orders."""
BATCH_WINDOW_S = 0.5
"""How long a result or a start of a game waits for others: a turn costs the same for one of them and for many."""
WORKERS_TICKS = 3
"""Number of ticks between two reports of the workers."""
GRACE_S = 20.0
"""Time for running games to finish after the order to stop; then they are cancelled and requeued."""
OFFER_TIMEOUT_S = 3.0
"""Time to retry commits to an unavailable database after the order to stop; then results stay in the spool."""
RETRY_INTERVAL_S = 1.0
"""Pause before an unavailable database is tried again."""
PRESENCE_BATCH_WINDOW_S = 0.5
"""Shortest time between two updates of the connected remote bots."""
MAINTENANCE_INTERVAL_S = 10.0
"""How often the coordinator checks whether daily tasks are due."""


class Coordinator:
    """The task of the coordinator: `run(stop)`.

    `clock` returns the current time; `check` checks one claimed version in the sandbox. `lobby` has the connections of
    remote bots (None: no remote bots). `maintenance` has the daily tasks (None: those that the settings enable).
    `verifier` verifies records of workers (None: in a helper process). `spool` is the spool that the executor uses
    (None: the one in `settings.spool_folder`).
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        bus: EventBus,
        executor: Executor,
        *,
        clock: Callable[[], datetime] = now,
        check: Callable[[int], object] | None = None,
        maintenance: Maintenance | None = None,
        verifier: VerifierProcess | None = None,
        lobby: Lobby | None = None,
        spool: Spool | None = None,
        metrics: CoordinatorMetrics | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        self.state: CoordinatorState = "stopped"
        """`stopped`, `standing by`, `acting` or `stopping`."""
        self.spool = Spool(settings.spool_folder) if spool is None else spool
        self.outage = OutageLog(self.spool.backlog)
        self.leadership = Leadership(store, settings.lease_ttl_seconds, self.outage)
        self.in_flight = InFlightJobs()
        self.metrics = metrics or CoordinatorMetrics()
        self.metrics.waiting.set_function(lambda: len(self.spool))
        self.metrics.waiting_seconds.set_function(lambda: self.spool.backlog().age_s)
        self._store, self._bus, self._executor, self._clock, self._grace_s = store, bus, executor, clock, grace_s
        place, owner = BundlePlace.of(settings), self.leadership.name
        self._auditor = ResultAuditor(
            store,
            bus,
            executor,
            share=settings.verify_sample_rate,
            tolerance=settings.slow_worker_tolerance,
            owner=owner,
            metrics=self.metrics,
            verifier=verifier,
        )
        self.recorder = Recorder(
            store,
            bus,
            self.in_flight,
            self.spool,
            owner=owner,
            auditor=self._auditor,
            metrics=self.metrics,
            clock=clock,
            wake=self._wake_up_soon,
        )
        open_pool = partial(remote_pool, settings, bus, self.spool) if settings.is_clustered else None
        self._remote = RemoteGames(store, lobby, open_pool)
        self._dispatcher = JobDispatcher(
            store,
            executor,
            self.in_flight,
            owner=owner,
            place=BundlePlace.of_workers(settings),
            spool=None if settings.is_clustered else self.spool.folder,
            remote=self._remote,
            clock=clock,
            on_done=self.recorder.job_done,
            wake=self._wake_up,
        )
        self._entry_suspender = EntrySuspender(store, bus, self.in_flight, self._dispatcher, self.recorder)
        self._control = TournamentControl(store, bus, self.in_flight, self._dispatcher)
        conditions = Conditions(self._fenced, self.outage, lambda name: self.metrics.failures.labels(name).inc())
        self.human_games = HumanGames(
            store,
            bus,
            settings,
            owner=owner,
            place=place,
            spool=self.spool,
            conditions=conditions,
            on_done=self._person_finished,
        )
        checks = SubmissionChecks(
            store,
            bus,
            check or check_in_sandbox(store, bus, place.open, settings.sandbox),
            ladder_time_control=settings.ladder_time_control,
            metrics=self.metrics,
        )
        self._checks = Background("checks", TICK_INTERVAL_S, checks.work, conditions)
        self._background = (
            self._following(conditions),
            self._analysing(settings, conditions),
            self._proving(conditions),
            self._importing(conditions),
            self._maintaining(maintenance or Maintenance.of(settings, store, place.open), conditions),
            *([self._presence(lobby, conditions)] if lobby is not None else ()),
        )
        self._ordered: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._ticks = 0
        self._ticked: datetime | None = None
        self._is_aborting = False
        self._log = logger("coordinator")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._batch: asyncio.TimerHandle | None = None
        """The timer that wakes the task when the batch window ends."""

    def _following(self, conditions: Conditions) -> Background:
        follower = ArchiveIndexer(self._store)
        return Background("archive", POLL_INTERVAL_S, follower.work, conditions, close=follower.process.close)

    def _analysing(self, settings: Settings, conditions: Conditions) -> Background:
        budget, nodes = settings.analysis_games_per_day, settings.analysis_nodes_per_position
        plays_here = not settings.is_clustered
        analyst = Analyst(self._store, lambda: plays_here and bool(self.in_flight.jobs), budget=budget, nodes=nodes)
        process = analyst.process
        return Background(
            "analysis", TICK_INTERVAL_S, analyst.work, conditions, interrupt=process.interrupt, close=process.close
        )

    def _proving(self, conditions: Conditions) -> Background:
        prover = ProblemProver(self._store)
        process = prover.process
        return Background(
            "problems", TICK_INTERVAL_S, prover.work, conditions, interrupt=process.interrupt, close=process.close
        )

    def _importing(self, conditions: Conditions) -> Background:
        # No `interrupt`: a portion that this process has not finished is read again by the next coordinator.
        return Background("imports", TICK_INTERVAL_S, ArchiveImporter(self._store).work, conditions)

    def _maintaining(self, maintenance: Maintenance, conditions: Conditions) -> Background:
        maintenance.on_done = lambda name, at: self.metrics.task_done(name, at.timestamp())
        # Daily tasks are not fenced: in their long transactions, fencing would block the renewal of the lease.
        # An unfenced run does no harm, because every daily task is idempotent.
        unfenced = replace(conditions, fenced=contextlib.nullcontext)

        def work(stop: threading.Event) -> None:
            maintenance.run_due(self._clock(), stop.is_set)

        return Background("maintenance", MAINTENANCE_INTERVAL_S, work, unfenced)

    def _presence(self, lobby: Lobby, conditions: Conditions) -> Background:
        """Return the work that stores the connected remote bots in the database, on change and periodically."""

        def say(stop: threading.Event) -> None:
            self._store.presences.report({one.version_id: one for one in lobby.present.values()})
            stop.wait(PRESENCE_BATCH_WINDOW_S)  # changes in this time are reported together

        def note() -> None:
            found.wake()
            self.order(0)

        found = Background("presence", REPORT_INTERVAL_S, say, conditions)
        lobby.on_change = note
        return found

    # -- the task ------------------------------------------------------------------------------------------------------

    async def run(self, stop: asyncio.Event) -> None:
        """Act while this process owns the lease, otherwise be on standby, until `stop` is set.

        Then let running games finish, requeue those that do not, and return.
        Raises SchemaError when the database was upgraded meanwhile: an old program must not write to a new schema.
        """
        self._loop = asyncio.get_running_loop()
        news = asyncio.create_task(self._listen())
        stopping = asyncio.create_task(self._wake_on(stop))
        # Dedicated threads: a busy web server must delay neither the renewal of the lease nor results.
        with ThreadPoolExecutor(1, "coordinator") as work, ThreadPoolExecutor(1, "lease") as lease:
            try:
                while not stop.is_set():
                    if await self._take_lease(lease):
                        await self._act(stop, work, lease)
                    else:
                        self._become("standing by")
                        await self._in(work, self._review)
                        await self._rest(stop, self.leadership.poll_interval_s)
            finally:
                news.cancel()
                stopping.cancel()
                await asyncio.gather(news, stopping, return_exceptions=True)
                await self._in(work, self._control.close)
                await self._in(work, self._auditor.close)
                await self._in(work, self._remote.close)
                self._become("stopped")

    def abort(self) -> None:
        """Stop waiting for running games: cancel and requeue them."""
        self._is_aborting = True
        self._wake_up()

    def order(self, tournament_id: int | None) -> None:
        """Request an immediate turn that checks this tournament (None: all, 0: none in particular). Thread-safe."""
        self._ordered.put(tournament_id)
        self._wake_up()
        self._checks.wake()

    async def _act(self, stop: asyncio.Event, work: Executor, lease: Executor) -> None:
        """Run turns until the order to stop or the loss of the lease."""
        lost = asyncio.Event()
        renewing = asyncio.create_task(self.leadership.renew(lease, lost))
        losing = asyncio.create_task(self._wake_on(lost))
        try:
            await self._in(work, self.take_over)
            self.human_games.begin()
            for work_item in (self._checks, *self._background):
                work_item.begin()
            self._become("acting")
            while not (stop.is_set() or lost.is_set()):
                self._end_batch()
                try:
                    await self._in(work, self.turn)
                except LeaseLostError:
                    raise
                except StoreUnavailableError as error:  # nothing is lost: games continue, results wait in the spool
                    self._note_outage(error)
                    await self._rest(stop, RETRY_INTERVAL_S)
                    continue
                self.outage.over("turn")
                self.metrics.set_lease(is_mine=True)
                await self._wait_for_wakeup(TICK_INTERVAL_S)
            if not lost.is_set():
                await self._leave(work, lost)
        except LeaseLostError:
            lost.set()
        except StoreUnavailableError as error:
            self._note_outage(error)
            await self._rest(stop, RETRY_INTERVAL_S)
        finally:
            # Do not wait for a running check: its bots die with this process, and the next coordinator repeats it.
            self._checks.end()
            await self._in(work, self.human_games.stop)
            await self._in(work, background.stop, self._background)
            renewing.cancel()
            losing.cancel()
            await asyncio.gather(renewing, losing, return_exceptions=True)
            if lost.is_set():
                self._log.warning("lease lost", owner=self.leadership.name)
                await self._in(work, self._abandon)
            elif stop.is_set():
                with contextlib.suppress(StoreError):
                    await self._in(lease, self.leadership.release)

    async def _leave(self, work: Executor, lost: asyncio.Event) -> None:
        """Let running games finish, cancel them after the grace period, and requeue those without a result."""
        self._become("stopping")
        for work_item in (self._checks, *self._background):
            work_item.end()
        await self._in(work, self._dispatcher.recall)
        in_flight, deadline = self.in_flight, asyncio.get_running_loop().time() + self._grace_s
        while in_flight.jobs or in_flight.unrecorded:
            left = deadline - asyncio.get_running_loop().time()
            if self._is_aborting or left <= 0:
                await self._in(work, self._dispatcher.call_off_all)
            if lost.is_set() or left <= -self._grace_s:
                break
            self._end_batch()
            try:
                await self._in(work, self._collect)
            except StoreUnavailableError:
                if not in_flight.jobs and left < self._grace_s - OFFER_TIMEOUT_S:
                    break  # finished results are in the spool
            if in_flight.jobs or in_flight.unrecorded:
                await self._wait_for_wakeup(min(TICK_INTERVAL_S, max(left, 0.05)))
        await self._in(work, self.recorder.requeue_all)

    def _note_outage(self, error: StoreUnavailableError) -> None:
        """Log the outage, and report that the owner of the lease is unknown."""
        self.outage.note(error, "turn")
        self.metrics.set_lease(is_mine=False)

    async def _take_lease(self, lease: Executor) -> bool:
        """Acquire or keep the lease; return whether this process owns it. Raises SchemaError after an upgrade."""
        try:
            is_taken = await self._in(lease, self._take)
        except StoreUnavailableError as error:
            self.outage.note(error, LEASE)
            self.metrics.set_lease(is_mine=False)
            return False
        self.outage.over(LEASE)
        if not is_taken:
            self.metrics.set_lease(is_mine=False, is_anothers=self.leadership.is_anothers)
        return is_taken

    def _take(self) -> bool:
        self._store.require()
        is_taken = self.leadership.take()
        if is_taken:
            try:
                self._store.require()  # detects an upgrade up to this moment; a later upgrade deletes the lease
            except SchemaError:
                self.leadership.release()
                raise
        return is_taken

    async def _listen(self) -> None:
        """Handle events: starts and ends of games, requests for an immediate turn, and actions of humans."""
        while True:
            async with self._bus.subscribe(SlotStarted, SlotFinished, CoordinatorWakeup, HumanActed) as events:
                async for event in events:
                    match event:
                        case SlotStarted():
                            self.recorder.game_began(event.game)
                        case SlotFinished():
                            self.recorder.game_ended(event.game)
                        case CoordinatorWakeup():
                            self.order(event.tournament)
                        case HumanActed():
                            self.human_games.wake()

    async def _wake_on(self, event: asyncio.Event) -> None:
        await event.wait()
        self._wake.set()

    async def _rest(self, stop: asyncio.Event, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)

    async def _wait_for_wakeup(self, seconds: float) -> None:
        """Wait until another thread wakes the task, or for this many seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), seconds)

    async def _in(self, thread: Executor, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(thread, function, *arguments)

    def _wake_up(self) -> None:
        """Wake the task. Thread-safe."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._wake.set)

    def _wake_up_soon(self) -> None:
        """Wake the task at once if at least half of the jobs in flight have ended: then slots may have run out of jobs.
        Otherwise wake it after a short time in which more may end. Thread-safe.
        """
        if 2 * self.recorder.ended_jobs >= len(self.in_flight.jobs):
            self._wake_up()
        elif self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._begin_batch)

    def _begin_batch(self) -> None:
        if self._batch is None and self._loop is not None:
            self._batch = self._loop.call_later(BATCH_WINDOW_S, self._wake.set)

    def _end_batch(self) -> None:
        """Clear the wake-up and its timer: the turn that begins handles everything that has arrived."""
        self._wake.clear()
        if self._batch is not None:
            self._batch.cancel()
            self._batch = None

    def _person_finished(self, game_id: str) -> None:
        """Handle the end of a person's game at once. Thread-safe."""
        self.recorder.game_ended(game_id)
        self._wake_up()

    def _become(self, state: CoordinatorState) -> None:
        if state != self.state:
            self.state = state
            if state != "standing by":  # a standby keeps what the last check of the lease found
                self.metrics.set_lease(is_mine=state != "stopped")
            self._log.info("coordinator", state=state, owner=self.leadership.name)
            self._bus.publish(CoordinatorChanged(state=state, lease_owner=self.leadership.name))

    # -- one turn, all of it in one thread -----------------------------------------------------------------------------

    def take_over(self) -> None:
        """Put the games and checks of the previous coordinator, which no longer owns the lease, back into the queue.

        Waiting results are recorded before any game is dispatched again.
        """
        with self._fenced():
            games, checks = self._store.queue.give_back(), self._store.checks.give_back()
            self._auditor.resume()
            self.recorder.restore()
        self._control.recheck_all()
        if games or checks:
            self._log.info("games requeued", games=games, checks=checks)

    def turn(self) -> None:
        """Record results, start and advance tournaments, and dispatch games to free slots.

        Raises LeaseLostError when another process owns the lease, and StoreUnavailableError.
        """
        self.metrics.slots.set(slots_of(self._executor))
        self._store.health.require_sound()
        with self._fenced():
            self.recorder.collect()
            for tournament in self._auditor.reverify():
                self._control.reopen(tournament)
            self._entry_suspender.process_failures()
            at, orders = self._clock(), set(drained(self._ordered))
            if orders or self._ticked is None or abs((at - self._ticked).total_seconds()) >= TICK_INTERVAL_S:
                self._tick(at)
            running = self._control.steer(at, orders)
            self._entry_suspender.forfeit_planned()
            self._dispatcher.dispatch(running)

    def _fenced(self) -> contextlib.AbstractContextManager[None]:
        """Return a context in which only the owner of the lease can write."""
        return self._store.leases.fencing(LEASE, self.leadership.name)

    def _collect(self) -> None:
        with self._fenced():
            self.recorder.collect()

    def _review(self) -> None:
        """Drop results in the spool whose games are over in the database or unknown to it."""
        with contextlib.suppress(StoreUnavailableError):
            self.recorder.review()

    def _tick(self, at: datetime) -> None:
        """Handle schedules, workers, and results that other processes have left in the spool."""
        self._ticked = at
        self._ticks += 1
        self._control.tick()
        for tournament in cron.tick(self._store, at):
            self._control.publish_state(tournament.id or 0, tournament.state)
        if self._ticks % WORKERS_TICKS == 0:
            self._publish_workers()
        self.recorder.restore()

    def _publish_workers(self) -> None:
        """Publish the workers and how busy they are."""
        busy = sum(future.running() for future in self.in_flight.jobs)
        self._bus.publish(workers_of(self._executor, busy, self.leadership.name))

    def _abandon(self) -> None:
        """Cancel all jobs after the loss of the lease, without touching the database. Results stay in the spool."""
        self._dispatcher.call_off_all()
        self.in_flight.forget()
