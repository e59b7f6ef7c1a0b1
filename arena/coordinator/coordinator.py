"""The coordinator: fires schedules, starts tournaments, dispatches games, records results and updates ratings.

Only the owner of the lease acts; other processes are on standby. All state is in the database: after a crash, the next
coordinator requeues the games in flight and continues.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from arena.coordinator import background, cron
from arena.coordinator.auditor import ResultAuditor
from arena.coordinator.background import Background, OutageLog
from arena.coordinator.context import CoordinatorContext
from arena.coordinator.control import EntrySuspender, TournamentControl
from arena.coordinator.dispatcher import JobDispatcher
from arena.coordinator.executors import slots_of, workers_of
from arena.coordinator.human_games import HumanGames
from arena.coordinator.leadership import LEASE, Leadership
from arena.coordinator.recorder import Recorder, drained
from arena.coordinator.remote_games import RemoteGames
from arena.errors import LeaseLostError, SchemaError, StoreError, StoreUnavailableError
from arena.events.messages import (
    CoordinatorChanged,
    CoordinatorState,
    CoordinatorWakeup,
    HumanActed,
    SlotFinished,
    SlotStarted,
)
from arena.log import logger

T = TypeVar("T")
TICK_INTERVAL_S = 1.0
"""Longest pause between two turns: the greatest delay of schedules and orders."""
WORKERS_TICKS = 3
"""Number of ticks between two reports of the workers."""
GRACE_S = 20.0
"""Time for running games to finish after the order to stop; then they are cancelled and requeued."""
SETTLE_S = 5.0
"""Longest time after taking over before other work begins: until the first game ends, it would only delay that."""
OFFER_TIMEOUT_S = 3.0
"""Time to retry commits to an unavailable database after the order to stop; then results stay in the spool."""
RETRY_INTERVAL_S = 1.0
"""Pause before an unavailable database is tried again."""


@dataclass(frozen=True, slots=True)
class CoordinatorParts:
    """The parts of one coordinator, each with one task (see `arena.coordinator.assembly`)."""

    leadership: Leadership
    outage: OutageLog
    auditor: ResultAuditor
    recorder: Recorder
    remote: RemoteGames
    dispatcher: JobDispatcher
    entry_suspender: EntrySuspender
    control: TournamentControl
    human_games: HumanGames
    checks: Background
    background: tuple[Background, ...]


class Coordinator:
    """The task of the coordinator: `run(stop)`.

    When ordered to stop, running games have `grace_s` seconds to finish.
    """

    def __init__(self, context: CoordinatorContext, parts: CoordinatorParts, grace_s: float = GRACE_S) -> None:
        self.state: CoordinatorState = "stopped"
        """`stopped`, `standing by`, `acting` or `stopping`."""
        self.settled = asyncio.Event()
        """Set once a game has ended here or no game is in flight, after `SETTLE_S` at the latest, and on standby."""
        self.spool, self.in_flight, self.metrics = context.spool, context.in_flight, context.metrics
        self.leadership, self.recorder, self.human_games = parts.leadership, parts.recorder, parts.human_games
        self._store, self._bus, self._executor = context.store, context.bus, context.executor
        self._clock, self._wakeup, self._grace_s = context.clock, context.wakeup, grace_s
        self._outage, self._auditor, self._remote = parts.outage, parts.auditor, parts.remote
        self._dispatcher, self._control = parts.dispatcher, parts.control
        self._entry_suspender = parts.entry_suspender
        self._checks, self._background = parts.checks, parts.background
        self._ordered: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._ticks = 0
        self._ticked: datetime | None = None
        self._is_aborting = self._has_played = False
        self._log = logger("coordinator")

    # -- the task ------------------------------------------------------------------------------------------------------

    async def run(self, stop: asyncio.Event) -> None:
        """Act while this process owns the lease, otherwise be on standby, until `stop` is set.

        Then let running games finish, requeue those that do not, and return.
        Raises SchemaError when the database was upgraded meanwhile: an old program must not write to a new schema.
        """
        self._wakeup.attach()
        news = asyncio.create_task(self._listen())
        stopping = asyncio.create_task(self._wakeup.when(stop))
        # Dedicated threads: a busy web server must delay neither the renewal of the lease nor results.
        with ThreadPoolExecutor(1, "coordinator") as work, ThreadPoolExecutor(1, "lease") as lease:
            try:
                while not stop.is_set():
                    if await self._take_lease(lease):
                        await self._act(stop, work, lease)
                    else:
                        self._become("standing by")
                        self.settled.set()
                        await self._in(work, self._review)
                        await self._rest(stop, self.leadership.poll_interval_s)
            finally:
                news.cancel()
                stopping.cancel()
                await asyncio.gather(news, stopping, return_exceptions=True)
                # In the thread, as each close waits for a helper process to end.
                await self._in(work, self._control.close)
                await self._in(work, self._auditor.close)
                await self._in(work, self._remote.close)
                self._become("stopped")

    def abort(self) -> None:
        """Stop waiting for running games: cancel and requeue them."""
        self._is_aborting = True
        self._wakeup.now()

    def order(self, tournament_id: int | None) -> None:
        """Request an immediate turn that checks this tournament (None: all, 0: none in particular). Thread-safe."""
        self._ordered.put(tournament_id)
        self._wakeup.now()
        self._checks.wake()

    async def _act(self, stop: asyncio.Event, work: Executor, lease: Executor) -> None:
        """Run turns until the order to stop or the loss of the lease."""
        lost = asyncio.Event()
        renewing = asyncio.create_task(self.leadership.renew(lease, lost))
        losing = asyncio.create_task(self._wakeup.when(lost))
        try:
            await self._in(work, self.take_over)
            self.human_games.begin()
            self._become("acting")
            waiting = [self._checks, *self._background]
            deadline = asyncio.get_running_loop().time() + SETTLE_S
            while not (stop.is_set() or lost.is_set()):
                self._wakeup.clear()
                try:
                    await self._in(work, self.turn)
                except LeaseLostError:
                    raise
                except StoreUnavailableError as error:  # nothing is lost: games continue, results wait in the spool
                    self._note_outage(error)
                    await self._rest(stop, RETRY_INTERVAL_S)
                    continue
                self._outage.over("turn")
                self.metrics.set_lease(is_mine=True)
                self._settle(waiting, deadline)
                await self._wakeup.wait(TICK_INTERVAL_S)
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
            is_released = stop.is_set() and not lost.is_set()
            if is_released:  # before the background work ends, which may take seconds: a standby takes over meanwhile
                with contextlib.suppress(StoreError):
                    await self._in(lease, self.leadership.release)
            await self._in(work, background.stop, self._background)
            renewing.cancel()
            losing.cancel()
            await asyncio.gather(renewing, losing, return_exceptions=True)
            if lost.is_set() and not is_released:
                self._log.warning("lease lost", owner=self.leadership.name)
                await self._in(work, self._abandon)

    def _settle(self, waiting: list[Background], deadline: float) -> None:
        """Begin the `waiting` work unless it would delay the first game: this is called after each turn."""
        if self._has_played or not self.in_flight.jobs or asyncio.get_running_loop().time() >= deadline:
            self.settled.set()
            while waiting:
                waiting.pop(0).begin()

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
            # Cancelled games have as long again to end; then the process ends, and the next coordinator queues them
            # again.
            if lost.is_set() or left <= -self._grace_s:
                break
            self._wakeup.clear()
            try:
                await self._in(work, self._collect)
            except StoreUnavailableError:
                if not in_flight.jobs and left < self._grace_s - OFFER_TIMEOUT_S:
                    break  # finished results are in the spool
            if in_flight.jobs or in_flight.unrecorded:
                await self._wakeup.wait(min(TICK_INTERVAL_S, max(left, 0.05)))
        await self._in(work, self.recorder.requeue_all)

    def _note_outage(self, error: StoreUnavailableError) -> None:
        """Log the outage, and report that the owner of the lease is unknown."""
        self._outage.note(error, "turn")
        self.metrics.set_lease(is_mine=False)

    async def _take_lease(self, lease: Executor) -> bool:
        """Acquire or keep the lease; return whether this process owns it. Raises SchemaError after an upgrade."""
        try:
            is_taken = await self._in(lease, self._take)
        except StoreUnavailableError as error:
            self._outage.note(error, LEASE)
            self.metrics.set_lease(is_mine=False)
            return False
        self._outage.over(LEASE)
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
                            self._has_played = True
                            self.recorder.game_ended(event.game)
                        case CoordinatorWakeup():
                            self.order(event.tournament)
                        case HumanActed():
                            self.human_games.wake()

    async def _rest(self, stop: asyncio.Event, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)

    async def _in(self, thread: Executor, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(thread, function, *arguments)

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
        self._control.recheck_all()
        with self.leadership.fenced():
            games, checks = self._store.queue.give_back(), self._store.checks.give_back()
            self._auditor.resume()
            self.recorder.restore()
            self.recorder.collect()
            # Before the first turn: to draw openings for games to plan takes a second or more.
            self._dispatcher.dispatch(self._control.running())
        if games or checks:
            self._log.info("games requeued", games=games, checks=checks)

    def turn(self) -> None:
        """Record results, start and advance tournaments, and dispatch games to free slots.

        Raises LeaseLostError when another process owns the lease, and StoreUnavailableError.
        """
        self.metrics.slots.set(slots_of(self._executor))
        # Once damage is known, by whichever process, nothing more is written to the database.
        self._store.health.require_sound()
        with self.leadership.fenced():
            self.recorder.collect()
            for tournament in self._auditor.reverify():
                self._control.reopen(tournament)
            self._entry_suspender.process_failures()
            at, orders = self._clock(), set(drained(self._ordered))
            # The absolute difference: a clock that is set back by an hour must not stop the ticks for an hour.
            if orders or self._ticked is None or abs((at - self._ticked).total_seconds()) >= TICK_INTERVAL_S:
                self._tick(at)
            running = self._control.steer(at, orders)
            self._entry_suspender.forfeit_planned()
            self._dispatcher.dispatch(running)

    def _collect(self) -> None:
        with self.leadership.fenced():
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
        self._bus.publish(workers_of(self._executor, busy, self.leadership.name, self.spool.folder))

    def _abandon(self) -> None:
        """Cancel all jobs after the loss of the lease, without touching the database. Results stay in the spool."""
        self._dispatcher.call_off_all()
        self.in_flight.forget()
