"""The coordinator: the one process that fires schedules, begins tournaments, hands out games, records and rates.

Only the owner of the lease acts, others stand by. Everything it knows is in the database: killed at any moment, the
next one takes the games back that were out and goes on. Refuses to know HTTP, and how a game is played.
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

from arena.coordinator import background, cron
from arena.coordinator.analyst import Analyst
from arena.coordinator.background import Background, Conditions
from arena.coordinator.checks import Checks, check_in_sandbox
from arena.coordinator.executors import remote_pool, slots_of, workers_of
from arena.coordinator.follower import LOOK_S, Follower
from arena.coordinator.handout import Handout
from arena.coordinator.inspection import Inspection, Verifier
from arena.coordinator.lease import LEASE, LeaseOwner
from arena.coordinator.lobby import Lobby
from arena.coordinator.maintenance import Maintenance
from arena.coordinator.memory import Memory
from arena.coordinator.outage import Outage
from arena.coordinator.people_games import PeopleGames
from arena.coordinator.recorder import Recorder, drained
from arena.coordinator.remote_games import RemoteGames
from arena.coordinator.steering import Steering
from arena.coordinator.suspension import Suspensions
from arena.events.bus import EventBus
from arena.events.messages import PersonDecided, RefereeChanged, RefereeState, RefereeWoken, SlotFinished, SlotStarted
from arena.log import logger
from arena.metrics import RefereeMetrics
from arena.spool import Spool
from arena.store import LeaseLostError, SchemaError, Store, StoreError, StoreUnavailableError
from arena.store.models import now
from arena.store.presences import REPORT_INTERVAL_S
from arena.worker import BundlePlace

if TYPE_CHECKING:
    from arena.config import Settings

T = TypeVar("T")
TICK_S = 1.0
"""How long the coordinator rests at most: schedules fire and orders are seen that much late."""
WORKERS_TICKS = 3
"""Every so many ticks it is told what there is to play on."""
GRACE_S = 20.0
"""How long running games may take to finish after the order to stop; then they are called off and handed back."""
OFFER_S = 3.0
"""How long results are offered, after the order to stop, to a database that is away: then they stay in the spool."""
RETRY_S = 1.0
"""How long to wait for a database that cannot be used."""
PAUSE_S = 0.5
"""How long at least between two times that it is said which remote bots are connected."""
TASKS_S = 10.0
"""How often it is looked which daily tasks are due."""


class Coordinator:
    """`run(stop)` is the task. `clock` gives the time of day; `check` checks one claimed version, in the sandbox.

    `lobby` is where remote bots are connected (None: nowhere), `maintenance` what is done daily (None: what the
    settings say), `verifier` plays games of workers again (None: a process), `metrics` counts. `spool` is where the
    executor keeps what slots cannot.
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
        verifier: Verifier | None = None,
        lobby: Lobby | None = None,
        spool: Spool | None = None,
        metrics: RefereeMetrics | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        self.state: RefereeState = "stopped"
        """`stopped`, `standing by`, `acting` or `stopping`."""
        self.spool = Spool(settings.spool_folder) if spool is None else spool
        self.outage = Outage(lambda: len(self.spool))
        self.lease_owner = LeaseOwner(store, settings.lease_seconds, self.outage)
        self.memory = Memory()
        self.metrics = metrics or RefereeMetrics()
        self.metrics.waiting.set_function(lambda: len(self.spool))
        self._store, self._bus, self._executor, self._clock, self._grace_s = store, bus, executor, clock, grace_s
        place, owner = BundlePlace.of(settings), self.lease_owner.name
        self._inspection = Inspection(
            store,
            bus,
            executor,
            share=settings.verify_share,
            tolerance=settings.throttle_tolerance,
            owner=owner,
            metrics=self.metrics,
            verifier=verifier,
        )
        self.recorder = Recorder(
            store,
            bus,
            self.memory,
            self.spool,
            owner=owner,
            inspection=self._inspection,
            metrics=self.metrics,
            clock=clock,
            wake=self._wake_up,
        )
        open_pool = partial(remote_pool, settings, bus, self.spool) if settings.is_clustered else None
        self._remote = RemoteGames(store, lobby, open_pool)
        self._handout = Handout(
            store,
            executor,
            self.memory,
            owner=owner,
            place=BundlePlace.of_workers(settings),
            spool=None if settings.is_clustered else self.spool.folder,
            remote=self._remote,
            clock=clock,
            on_done=self.recorder.job_done,
            wake=self._wake_up,
        )
        self._suspensions = Suspensions(store, bus, self.memory, self._handout, self.recorder)
        self._steering = Steering(store, bus, self.memory, self._handout)
        conditions = Conditions(self._fenced, self.outage, lambda name: self.metrics.failures.labels(name).inc())
        self.people = PeopleGames(
            store,
            bus,
            settings,
            owner=owner,
            place=place,
            spool=self.spool,
            conditions=conditions,
            on_done=self.recorder.game_ended,
        )
        checks = Checks(
            store, bus, check or check_in_sandbox(store, bus, place.open, settings.sandbox), metrics=self.metrics
        )
        self._checks = Background("checks", TICK_S, checks.work, conditions)
        self._background = (
            self._following(conditions),
            self._analysing(settings, conditions),
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

    def _following(self, conditions: Conditions) -> Background:
        follower = Follower(self._store)
        return Background("archive", LOOK_S, follower.work, conditions, close=follower.process.close)

    def _analysing(self, settings: Settings, conditions: Conditions) -> Background:
        budget, nodes = settings.analysis_games_per_day, settings.analysis_nodes
        plays_here = not settings.is_clustered
        analyst = Analyst(self._store, lambda: plays_here and bool(self.memory.jobs), budget=budget, nodes=nodes)
        process = analyst.process
        return Background(
            "analysis", TICK_S, analyst.work, conditions, interrupt=process.interrupt, close=process.close
        )

    def _maintaining(self, maintenance: Maintenance, conditions: Conditions) -> Background:
        maintenance.on_done = lambda name, at: self.metrics.task_done(name, at.timestamp())
        # Its transactions are long, and a fence keeps the lease from being renewed; done twice they do no harm.
        unfenced = replace(conditions, fenced=contextlib.nullcontext)
        return Background("maintenance", TASKS_S, lambda stop: maintenance.see_to(self._clock(), stop.is_set), unfenced)

    def _presence(self, lobby: Lobby, conditions: Conditions) -> Background:
        """Have the database say which remote bots are connected: when that changes, and now and then."""

        def say(stop: threading.Event) -> None:
            self._store.presences.report({one.version_id: one for one in lobby.present.values()})
            stop.wait(PAUSE_S)  # what changes meanwhile is said together

        def note() -> None:
            found.wake()
            self.order(0)

        found = Background("presence", REPORT_INTERVAL_S, say, conditions)
        lobby.on_change = note
        return found

    # -- the task ------------------------------------------------------------------------------------------------------

    async def run(self, stop: asyncio.Event) -> None:
        """Act, or stand by, until `stop` is set; then let running games finish, hand back the others, and return.

        Raises SchemaError when the database was upgraded meanwhile: an old program writes nothing into a new schema.
        """
        self._loop = asyncio.get_running_loop()
        news = asyncio.create_task(self._listen())
        stopping = asyncio.create_task(self._wake_on(stop))
        # Two threads of its own: a busy web server must not keep the lease from being renewed, nor results waiting.
        with ThreadPoolExecutor(1, "coordinator") as work, ThreadPoolExecutor(1, "lease") as lease:
            try:
                while not stop.is_set():
                    if await self._take_lease(lease):
                        await self._act(stop, work, lease)
                    else:
                        self._become("standing by")
                        await self._in(work, self._review)
                        await self._rest(stop, self.lease_owner.look_s)
            finally:
                news.cancel()
                stopping.cancel()
                await asyncio.gather(news, stopping, return_exceptions=True)
                await self._in(work, self._steering.close)
                await self._in(work, self._inspection.close)
                await self._in(work, self._remote.close)
                self._become("stopped")

    def abort(self) -> None:
        """Do not wait for running games any longer: call them off and hand them back."""
        self._is_aborting = True
        self._wake_up()

    def order(self, tournament_id: int | None) -> None:
        """Look at a tournament at once (None: at all of them, 0: at what else is ordered). From any thread."""
        self._ordered.put(tournament_id)
        self._wake_up()
        self._checks.wake()

    async def _act(self, stop: asyncio.Event, work: Executor, lease: Executor) -> None:
        """Coordinate until the order to stop or the loss of the lease."""
        lost = asyncio.Event()
        renewing = asyncio.create_task(self.lease_owner.renew(lease, lost))
        losing = asyncio.create_task(self._wake_on(lost))
        try:
            await self._in(work, self.take_over)
            self.people.begin()
            for work_aside in (self._checks, *self._background):
                work_aside.begin()
            self._become("acting")
            while not (stop.is_set() or lost.is_set()):
                self._wake.clear()
                try:
                    await self._in(work, self.turn)
                except LeaseLostError:
                    raise
                except StoreUnavailableError as error:  # nothing is lost: games go on, results wait in the spool
                    self._note_outage(error)
                    await self._rest(stop, RETRY_S)
                    continue
                self.outage.over("turn")
                self.metrics.set_lease(is_mine=True)
                await self._nap(TICK_S)
            if not lost.is_set():
                await self._leave(work, lost)
        except LeaseLostError:
            lost.set()
        except StoreUnavailableError as error:
            self._note_outage(error)
            await self._rest(stop, RETRY_S)
        finally:
            self._checks.end()  # and nobody waits: its bots die with this process, and whoever acts next does it anew
            await self._in(work, self.people.stop)
            await self._in(work, background.stop, self._background)
            renewing.cancel()
            losing.cancel()
            await asyncio.gather(renewing, losing, return_exceptions=True)
            if lost.is_set():
                self._log.warning("lease lost", owner=self.lease_owner.name)
                await self._in(work, self._abandon)
            elif stop.is_set():
                with contextlib.suppress(StoreError):
                    await self._in(lease, self.lease_owner.release)

    async def _leave(self, work: Executor, lost: asyncio.Event) -> None:
        """Running games finish, or are called off when that takes too long; what has no result waits again."""
        self._become("stopping")
        for work_aside in (self._checks, *self._background):
            work_aside.end()
        await self._in(work, self._handout.recall)
        memory, deadline = self.memory, asyncio.get_running_loop().time() + self._grace_s
        while memory.jobs or memory.unrecorded:
            left = deadline - asyncio.get_running_loop().time()
            if self._is_aborting or left <= 0:
                await self._in(work, self._handout.call_off_all)
            if lost.is_set() or left <= -self._grace_s:
                break
            self._wake.clear()
            try:
                await self._in(work, self._collect)
            except StoreUnavailableError:
                if not memory.jobs and left < self._grace_s - OFFER_S:
                    break  # what has finished is in the spool
            if memory.jobs or memory.unrecorded:
                await self._nap(min(TICK_S, max(left, 0.05)))
        await self._in(work, self.recorder.hand_back)

    def _note_outage(self, error: StoreUnavailableError) -> None:
        """The database is away: whether the lease is still ours cannot be known, and nothing can be done with it."""
        self.outage.note(error, "turn")
        self.metrics.set_lease(is_mine=False)

    async def _take_lease(self, lease: Executor) -> bool:
        """Whether this process is to act. Raises SchemaError when the database was upgraded under it."""
        try:
            is_taken = await self._in(lease, self._take)
        except StoreUnavailableError as error:
            self.outage.note(error, LEASE)
            self.metrics.set_lease(is_mine=False)
            return False
        self.outage.over(LEASE)
        if not is_taken:
            self.metrics.set_lease(is_mine=False, is_anothers=self.lease_owner.is_anothers)
        return is_taken

    def _take(self) -> bool:
        self._store.require()
        is_taken = self.lease_owner.take()
        if is_taken:
            try:
                self._store.require()  # an upgrade until here was seen; one from here on takes the lease away
            except SchemaError:
                self.lease_owner.release()
                raise
        return is_taken

    async def _listen(self) -> None:
        """Hear of games that begin and end, and of orders that should be seen at once."""
        while True:
            async with self._bus.subscribe(SlotStarted, SlotFinished, RefereeWoken, PersonDecided) as events:
                async for event in events:
                    match event:
                        case SlotStarted():
                            self.recorder.game_began(event.game)
                        case SlotFinished():
                            self.recorder.game_ended(event.game)
                        case RefereeWoken():
                            self.order(event.tournament)
                        case PersonDecided():
                            self.people.wake()

    async def _wake_on(self, event: asyncio.Event) -> None:
        await event.wait()
        self._wake.set()

    async def _rest(self, stop: asyncio.Event, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)

    async def _nap(self, seconds: float) -> None:
        """Until somebody wakes the task, or the time is over."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), seconds)

    async def _in(self, thread: Executor, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(thread, function, *arguments)

    def _wake_up(self) -> None:
        """Wake the task, from any thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to wake
                self._loop.call_soon_threadsafe(self._wake.set)

    def _become(self, state: RefereeState) -> None:
        if state != self.state:
            self.state = state
            if state != "standing by":  # then what the look at the lease has found stands
                self.metrics.set_lease(is_mine=state != "stopped")
            self._log.info("coordinator", state=state, owner=self.lease_owner.name)
            self._bus.publish(RefereeChanged(state=state, lease_owner=self.lease_owner.name))

    # -- one turn, all of it in one thread -----------------------------------------------------------------------------

    def take_over(self) -> None:
        """Take back the games and checks that are out: whoever had them owned the lease, and does so no more.

        Results that wait are recorded before any game is handed out again.
        """
        with self._fenced():
            games, checks = self._store.queue.give_back(), self._store.checks.give_back()
            self._inspection.resume()
            self.recorder.restore()
        self._steering.look_at_all()
        if games or checks:
            self._log.info("taken back", games=games, checks=checks)

    def turn(self) -> None:
        """Record what is done, see what is ordered and due, and hand out what there is room for.

        Raises LeaseLostError when somebody else coordinates, StoreUnavailableError.
        """
        self.metrics.slots.set(slots_of(self._executor))
        self._store.health.require_sound()
        with self._fenced():
            self.recorder.collect()
            for tournament in self._inspection.go_on():
                self._steering.reopen(tournament)
            self._suspensions.see_to()
            at, orders = self._clock(), set(drained(self._ordered))
            if orders or self._ticked is None or abs((at - self._ticked).total_seconds()) >= TICK_S:
                self._tick(at)
            self._handout.hand_out(self._steering.steer(at, orders))

    def _fenced(self) -> contextlib.AbstractContextManager[None]:
        """What is written within is written only by the owner of the lease."""
        return self._store.leases.fencing(LEASE, self.lease_owner.name)

    def _collect(self) -> None:
        with self._fenced():
            self.recorder.collect()

    def _review(self) -> None:
        """While another one acts: see which of the results that wait here it has made superfluous."""
        with contextlib.suppress(StoreUnavailableError):
            self.recorder.review()

    def _tick(self, at: datetime) -> None:
        """What is not looked at in every turn: schedules, workers, results that others have left."""
        self._ticked = at
        self._ticks += 1
        self._steering.tick()
        for tournament in cron.tick(self._store, at):
            self._steering.tell_state(tournament.id or 0, tournament.state)
        if self._ticks % WORKERS_TICKS == 0:
            self._tell_workers()
        self.recorder.restore()

    def _tell_workers(self) -> None:
        """Say what there is to play on, and how busy it is."""
        busy = sum(future.running() for future in self.memory.jobs)
        self._bus.publish(workers_of(self._executor, busy, self.lease_owner.name))

    def _abandon(self) -> None:
        """Somebody else coordinates now: call everything off, touch nothing of theirs. Results stay in the spool."""
        self._handout.call_off_all()
        self.memory.forget()
