"""The referee of the arena: fires schedules, begins tournaments, hands out games, records results, carries on.

One process acts, whoever holds the lease; others stand by. Everything it knows is in the database: killed at any
moment, the next one takes the games back that were out and goes on. Refuses to know HTTP, and how a game is played.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from arena.coordinator import cron, lease_owner
from arena.coordinator.executors import crew_of, slots_of
from arena.coordinator.maintenance import Upkeep
from arena.events.bus import EventBus
from arena.log import logger
from arena.metrics import RefereeMetrics
from arena.store import ConflictError, NotFoundError, Store, StoreError, StoreUnavailableError
from arena.store.games import Waiting
from arena.store.models import now
from arena.store.tournaments import Live
from arena.tournaments import SettingsError, life
from arena.tournaments.drawing import Chores
from arena.tournaments.format import AHEAD
from arena.worker import BundlePlace, play_bundled
from referee.dispatch import void_record
from referee.pool import JobError, WorkerLostError
from referee.record import GameRecord
from referee.rules.core import Kind, Termination
from referee.spec import GameSpec

if TYPE_CHECKING:
    from arena.config import Settings

T = TypeVar("T")
LEASE = "referee"
TICK_S = 1.0
"""How long the conductor rests at most: schedules fire and orders are seen that much late."""
CREW_TICKS = 3
"""Every so many ticks it is told what there is to play on."""
SWEEP_TICKS = 10
"""Every so many ticks all tournaments are looked at anew, whoever may have changed them."""
GRACE_S = 20.0
"""How long running games may take to finish after the order to stop; then they are called off and handed back."""
RETRY_S = 1.0
"""How long to wait for a database that cannot be used."""
TRIES = {Termination.WORKER_LOST: 8, Termination.SANDBOX_FAILED: 20}
"""How often a game is tried before it stays void: outlasts a bad hour, but no game kills workers for ever."""
LONGEST_REST_S = 300.0
"""How long a game that came to nothing again and again rests at most before it is tried once more."""
STAND_BY_S = 1.0
"""How often whoever stands by looks whether the lease is free."""

_LATER = frozenset({"round-robin", "gauntlet", "swiss"})
"""Formats that plan nothing while games are out."""


@dataclass(slots=True, eq=False)
class _Job:
    """A pair of games given to one slot."""

    tournament_id: int
    games: list[Waiting]
    playing: str = ""
    """The game that was begun last."""
    is_called_off: bool = False

    @property
    def specs(self) -> list[GameSpec]:
        return [game.spec for game in self.games]


@dataclass(slots=True)
class _Desk:
    """What the conductor remembers while it acts; all of it can be lost."""

    jobs: dict[Future[list[GameRecord]], _Job] = field(default_factory=dict)
    by_game: dict[str, _Job] = field(default_factory=dict)
    unrecorded: deque[tuple[GameRecord, int]] = field(default_factory=deque)
    """Results that the database has not taken yet."""
    given_back: set[str] = field(default_factory=set)
    begun: list[str] = field(default_factory=list)
    running: set[int] = field(default_factory=set)
    """The tournaments that were running at the last look."""
    changed: set[int] = field(default_factory=set)
    """Tournaments to carry on."""
    dry: set[int] = field(default_factory=set)
    """Running tournaments without a planned game left."""
    resting: dict[str, datetime] = field(default_factory=dict)
    """Games that came to nothing more than once, and until when they are not handed out again."""
    turns: int = 0
    ticks: int = SWEEP_TICKS
    ticked: datetime | None = None


class Conductor:
    """`run(stop)` is the task. `clock` gives the time of day; `check` checks one claimed version, in the sandbox.

    `upkeep` sees to the daily chores (None: those of the settings), `metrics` counts.
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
        upkeep: Upkeep | None = None,
        metrics: RefereeMetrics | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        self.holder = lease_owner.new_name()
        self.state = "stopped"
        """`stopped`, `standing by`, `acting` or `stopping`."""
        self._settings, self._store, self._bus, self._executor = settings, store, bus, executor
        self._clock, self._check, self._grace_s = clock, check or self._check_version, grace_s
        self._place = BundlePlace.of(settings)
        self._metrics = metrics or RefereeMetrics()
        self._upkeep = upkeep or Upkeep.of(settings, store, self._place.open)
        self._upkeep.on_done = lambda name, at: self._metrics.chores.labels(name).set(at.timestamp())
        self._away = BundlePlace.of_workers(settings)
        self._done: queue.SimpleQueue[Future[list[GameRecord]]] = queue.SimpleQueue()
        self._begun: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._ordered: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._desk = _Desk()
        self._chores = Chores()
        self._checking: threading.Thread | None = None
        self._is_aborting = False
        self._log = logger("conductor")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()

    @property
    def _room(self) -> int:
        """How many jobs are out at most: workers of a cluster come and go."""
        return 2 * slots_of(self._executor)

    # -- the task ------------------------------------------------------------------------------------------------------

    async def run(self, stop: asyncio.Event) -> None:
        """Act, or stand by, until `stop` is set; then let running games finish, hand back the others, and return."""
        self._loop = asyncio.get_running_loop()
        news = asyncio.create_task(self._listen())
        stopping = asyncio.create_task(self._wake_on(stop))
        # Two threads of its own: a busy web server must not keep the lease from being renewed, nor results waiting.
        with ThreadPoolExecutor(1, "conductor") as work, ThreadPoolExecutor(1, "lease") as lease:
            try:
                while not stop.is_set():
                    if await self._take(lease):
                        await self._act(stop, work, lease)
                    else:
                        self._become("standing by")
                        await self._rest(stop, min(STAND_BY_S, self._settings.lease_seconds / 3))
            finally:
                news.cancel()
                stopping.cancel()
                await asyncio.gather(news, stopping, return_exceptions=True)
                await self._in(work, self._chores.close)
                await self._in(work, self._upkeep.stop)
                self._become("stopped")

    def abort(self) -> None:
        """Do not wait for running games any longer: call them off and hand them back."""
        self._is_aborting = True
        self._stir()

    async def _act(self, stop: asyncio.Event, work: Executor, lease: Executor) -> None:
        """Be the referee until the order to stop or the loss of the lease."""
        lost = asyncio.Event()
        renewing = asyncio.create_task(self._renew(lease, lost))
        try:
            await self._in(work, self.take_over)
            self._become("acting")
            while not (stop.is_set() or lost.is_set()):
                self._wake.clear()
                try:
                    await self._in(work, self.turn)
                except StoreUnavailableError as error:  # nothing is lost: results wait here until it takes them
                    self._log.warning("database unavailable", error=str(error))
                    await self._rest(stop, RETRY_S)
                    continue
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), TICK_S)
            if not lost.is_set():
                await self._leave(work, lost)
        except StoreUnavailableError as error:
            self._log.warning("database unavailable", error=str(error))
            await self._rest(stop, RETRY_S)
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            if lost.is_set():
                self._log.warning("lease lost", holder=self.holder)
                await self._in(work, self._abandon)
            elif stop.is_set():
                with contextlib.suppress(StoreError):
                    await self._in(lease, self._store.house.release, LEASE, self.holder)

    async def _leave(self, work: Executor, lost: asyncio.Event) -> None:
        """Running games finish, or are called off when that takes too long; what has no result waits again."""
        self._become("stopping")
        await self._in(work, self._recall)
        deadline = asyncio.get_running_loop().time() + self._grace_s
        while self._desk.jobs or self._desk.unrecorded:
            left = deadline - asyncio.get_running_loop().time()
            if self._is_aborting or left <= 0:
                await self._in(work, partial(self._call_off, list(self._desk.jobs)))
            if lost.is_set() or left <= -self._grace_s:
                break
            self._wake.clear()
            with contextlib.suppress(StoreUnavailableError):
                await self._in(work, self.collect)
            if self._desk.jobs or self._desk.unrecorded:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), min(TICK_S, max(left, 0.05)))
        await self._in(work, self._hand_back)

    async def _take(self, lease: Executor) -> bool:
        try:
            return await self._in(lease, self._take_lease)
        except StoreUnavailableError as error:
            self._log.warning("database unavailable", error=str(error))
            return False

    def _take_lease(self) -> bool:
        """Take the lease when it is free, or when whoever holds it has died on this machine."""
        house, seconds = self._store.house, self._settings.lease_seconds
        if house.take(LEASE, self.holder, seconds):
            return True
        found = house.lease(LEASE)
        if found is None or not lease_owner.is_dead(found.holder):
            return False
        self._log.info("lease of the dead", holder=found.holder)
        house.release(LEASE, found.holder)
        return house.take(LEASE, self.holder, seconds)

    async def _renew(self, lease: Executor, lost: asyncio.Event) -> None:
        """Renew the lease in time. A database that is away for as long as the lease lasts means it is lost."""
        loop = asyncio.get_running_loop()
        seconds = self._settings.lease_seconds
        until = loop.time() + seconds
        while not lost.is_set():
            await asyncio.sleep(seconds / 3)
            asked = loop.time()
            try:
                is_mine = await self._in(lease, self._store.house.take, LEASE, self.holder, seconds)
                until = asked + seconds if is_mine else asked
            except StoreUnavailableError as error:
                self._log.warning("lease not renewed", error=str(error))
            if loop.time() >= until:
                lost.set()
                self._wake.set()

    async def _listen(self) -> None:
        """Hear of games that begin, and of orders that should be seen at once."""
        while True:
            async with self._bus.subscribe("executor/start", "referee/wake") as events:
                async for event in events:
                    if event.topic == "executor/start":
                        self._begun.put(str(event.payload["game"]))
                    else:
                        self._ordered.put(event.payload.get("tournament"))
                    self._wake.set()

    async def _wake_on(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._wake.set()

    async def _rest(self, stop: asyncio.Event, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)

    async def _in(self, pool: Executor, function: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, function, *arguments)

    def _stir(self) -> None:
        """Wake the task, from any thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to wake
                self._loop.call_soon_threadsafe(self._wake.set)

    def _become(self, state: str) -> None:
        if state != self.state:
            self.state = state
            self._metrics.acting.set(state in ("acting", "stopping"))
            self._log.info("conductor", state=state, holder=self.holder)
            self._bus.publish("referee/state", {"state": state, "holder": self.holder})

    # -- one turn, all of it in one thread -----------------------------------------------------------------------------

    def take_over(self) -> None:
        """Take back the games and checks that are out: whoever had them held the lease, and does so no more."""
        games, checks = self._store.games.give_back(), self._store.checks.give_back()
        self._desk.ticks = SWEEP_TICKS
        self._desk.dry.clear()
        if games or checks:
            self._log.info("taken back", games=games, checks=checks)

    def turn(self) -> None:
        """Record what is done, see what is ordered and due, and hand out what there is room for."""
        self.collect()
        at, desk = self._clock(), self._desk
        has_ticked = desk.ticked is None or abs((at - desk.ticked).total_seconds()) >= TICK_S
        orders = set(_drained(self._ordered))
        if has_ticked or orders:
            desk.ticked = at
            desk.ticks += 1
            for tournament in cron.tick(self._store, at):
                self._tell(tournament.id or 0, tournament.state)
            self._check_one()
            if desk.ticks % CREW_TICKS == 0:
                self._tell_crew()
            self._upkeep.begin(at)
        live = self._store.tournaments.live()
        self._obey(live)
        wanted = self._wanted(live, orders)
        is_changed = False
        for found in live:
            if found.state == "scheduled" and found.starts <= at:
                act = partial(life.plan, self._store, found.id, self._chores.draw)
                is_changed |= self._attempt(found.id, act)
            elif found.state != "scheduled" and (found.id in wanted or self._is_due(found)):
                is_changed |= self._advance(found)
        if is_changed:
            live = self._store.tournaments.live()
        self._hand_out([found for found in live if found.state == "running"])

    def _tell_crew(self) -> None:
        """Say what there is to play on, and how busy it is."""
        busy = sum(future.running() for future in self._desk.jobs)
        self._bus.publish("referee/crew", {"holder": self.holder, **crew_of(self._executor, busy)})

    def _wanted(self, live: Sequence[Live], orders: set[int | None]) -> set[int]:
        """The tournaments to look at whatever happened in them: all from time to time, and those just ordered on."""
        desk = self._desk
        running = {found.id for found in live if found.state == "running"}
        fresh = (running - desk.running) | {order for order in orders if order is not None}
        desk.running = running
        if desk.ticks >= SWEEP_TICKS or None in orders:
            desk.ticks = 0
            fresh = {found.id for found in live}
        desk.dry -= fresh
        return fresh

    def _is_due(self, found: Live) -> bool:
        """Whether what happened in a tournament since the last look may ask for something."""
        desk = self._desk
        if found.state == "draining":
            return not self._is_out(found.id)
        if found.id not in desk.changed:
            return False
        if found.format in _LATER:
            return found.id in desk.dry and not self._is_out(found.id)
        return found.format != "ladder" or found.id in desk.dry

    def _is_out(self, tournament_id: int) -> bool:
        return any(job.tournament_id == tournament_id for job in self._desk.jobs.values())

    # results ..........................................................................................................

    def collect(self) -> None:
        """Mark games that began, and record the results that have come in.

        First everything is noted here, then the database is asked: what it cannot take now, it is given again.
        """
        desk = self._desk
        for game in _drained(self._begun):
            if job := desk.by_game.get(game):
                job.playing = game
                desk.begun.append(game)
                attempt = next(one.attempt for one in job.games if one.spec.id == game) + 1
                self._bus.publish(f"game/{game}/start", {"tournament": job.tournament_id, "attempt": attempt})
        for future in _drained(self._done):
            if job := desk.jobs.pop(future, None):
                self._take_in(future, job)
                for spec in job.specs:
                    desk.by_game.pop(spec.id, None)
        playing = [game for game in desk.begun if game in desk.by_game]
        if playing:
            self._store.games.start(*playing)
        desk.begun.clear()
        self._count()
        while desk.unrecorded:
            self._record(*desk.unrecorded[0])
            desk.unrecorded.popleft()
        self._metrics.waiting.set(0)
        if desk.given_back:
            self._store.games.give_back(worker=self.holder, ids=sorted(desk.given_back))
            for game in desk.given_back:
                self._bus.publish(f"game/{game}/gone", {})
            desk.given_back.clear()

    def _take_in(self, future: Future[list[GameRecord]], job: _Job) -> None:
        """What a job brought: results to record, and games to be handed out again."""
        desk = self._desk
        records: list[GameRecord] = []
        try:
            records = future.result()
        except CancelledError:
            pass
        except (WorkerLostError, JobError) as error:
            # The one that was being played is charged with it, or the first if none had begun.
            spec = next((spec for spec in job.specs if spec.id == job.playing), job.specs[0])
            records = [void_record(spec, Termination.WORKER_LOST, str(error))]
        except Exception as error:  # an executor's own: the network, a scheduler that died
            records = [void_record(job.specs[0], Termination.WORKER_LOST, f"{type(error).__name__}: {error}")]
        stand = [record for record in records if record.termination is not Termination.STOPPED]
        desk.unrecorded.extend((record, job.tournament_id) for record in stand)
        left = {spec.id for spec in job.specs} - {record.id for record in stand}
        desk.given_back |= left
        desk.changed.add(job.tournament_id)
        if left:
            desk.dry.discard(job.tournament_id)

    def _count(self) -> None:
        """Tell the metrics how things stand."""
        self._metrics.slots.set(slots_of(self._executor))
        self._metrics.busy.set(sum(bool(job.playing) for job in self._desk.jobs.values()))
        self._metrics.waiting.set(len(self._desk.unrecorded))

    def _record(self, record: GameRecord, tournament_id: int) -> None:
        """Make a record part of the arena, exactly once; a void one is played again, or given up after `TRIES`."""
        news: dict[str, Any] = {
            "tournament": tournament_id,
            "winner": record.winner,
            "termination": record.termination.value,
            "kind": record.kind.value,
            "detail": record.detail,
            "committed": None,
        }
        try:
            if record.kind is Kind.VOID:
                tries = len(self._store.games.voids_of(record.id)) + 1
                is_last = tries >= TRIES[record.termination]
                if not self._store.games.void(record, self.holder, give_up=is_last):
                    return
                self._metrics.voids.labels(record.termination.value).inc()
                news["state"] = "void" if is_last else "planned"
                if not is_last and tries > 1:
                    rest = timedelta(seconds=min(LONGEST_REST_S, 2.0 ** (tries - 2)))
                    self._desk.resting[record.id] = self._clock() + rest
                self._desk.dry.discard(tournament_id)
                self._log.warning(
                    "void", game=record.id, attempt=tries, termination=record.termination.value, detail=record.detail
                )
            else:
                with self._metrics.commit_seconds.time():
                    committed = self._store.games.commit(record, self.holder)
                if committed is None:
                    return
                self._metrics.games.labels(record.kind.value).inc()
                if (seconds := _seconds(record)) is not None:
                    self._metrics.game_seconds.observe(seconds)
                news |= {"state": "finished", "committed": committed.number}
                if committed.changes:
                    self._bus.publish(f"rating/{committed.pool}", {"game": record.id, "committed": committed.number})
        except (ConflictError, NotFoundError) as error:
            self._log.error("record refused", game=record.id, error=str(error))
            return
        self._bus.publish(f"game/{record.id}/end", news)
        self._bus.publish(f"tournament/{tournament_id}/game", {"game": record.id, **news})

    # orders ...........................................................................................................

    def _obey(self, live: Sequence[Live]) -> None:
        """Call off the jobs of tournaments that were paused or cancelled, and what a draining one has not begun."""
        states = {found.id: found.state for found in live}
        for future, job in list(self._desk.jobs.items()):
            state = states.get(job.tournament_id)
            if state is None or (state == "draining" and not job.playing and future.cancel()):
                self._call_off([future])

    def _call_off(self, futures: Sequence[Future[list[GameRecord]]]) -> None:
        for future in futures:
            job = self._desk.jobs.get(future)
            if job is None or job.is_called_off:
                continue
            job.is_called_off = True
            if hasattr(self._executor, "call_off"):
                self._executor.call_off(future)
            else:
                future.cancel()

    def _recall(self) -> None:
        """Take back what no slot has begun."""
        for future in self._desk.jobs:
            future.cancel()

    def _hand_back(self) -> None:
        """Whatever is still out waits again: this process will not bring it."""
        left = [game.spec.id for job in self._desk.jobs.values() for game in job.games]
        with contextlib.suppress(StoreUnavailableError):  # whoever takes over does it then
            self._store.games.give_back(worker=self.holder, ids=[*left, *self._desk.given_back])
            self._store.checks.give_back()
        self._desk = _Desk()

    def _abandon(self) -> None:
        """Somebody else is the referee now: call everything off, and touch nothing of theirs."""
        self._call_off(list(self._desk.jobs))
        self._desk = _Desk()

    # tournaments ......................................................................................................

    def _advance(self, found: Live) -> bool:
        """Carry a tournament on, or pause a draining one with nothing out; whether its state or plan changed."""
        self._desk.changed.discard(found.id)
        act = partial(life.advance, self._store, found.id, self._chores.draw, max(AHEAD, 2 * self._room))
        if self._attempt(found.id, act):
            return True
        if found.state != "draining" or self._is_out(found.id):
            return False
        with contextlib.suppress(ConflictError):  # somebody resumed it meanwhile
            self._store.tournaments.move(found.id, "paused", only_from=("draining",))
            self._tell(found.id, "paused")
        return True

    def _attempt(self, tournament_id: int, act: Callable[[], life.Progress]) -> bool:
        """Do something for one tournament; what goes wrong there stops no other one. Whether its state changed."""
        try:
            progress = act()
        except (ConflictError, NotFoundError) as error:  # steered by somebody at this very moment: look again later
            self._log.info("tournament", tournament=tournament_id, error=str(error))
            return True
        except StoreUnavailableError:
            raise
        except Exception as error:
            if not isinstance(error, SettingsError):
                self._log.exception("tournament", tournament=tournament_id)
            problem = str(error) if isinstance(error, SettingsError) else f"{type(error).__name__}: {error}"
            with contextlib.suppress(ConflictError):
                self._store.tournaments.move(tournament_id, "paused", problem=problem)
                self._tell(tournament_id, "paused", problem)
            return True
        if progress.planned:
            self._desk.dry.discard(tournament_id)
            self._bus.publish(f"tournament/{tournament_id}/round", {"planned": progress.planned})
        if progress.state not in ("running", "draining") or progress.planned:
            self._tell(tournament_id, progress.state, progress.reason)
            return True
        return False

    def _tell(self, tournament_id: int, state: str, problem: str = "") -> None:
        self._bus.publish(f"tournament/{tournament_id}/state", {"state": state, "problem": problem})

    # handing out ......................................................................................................

    def _hand_out(self, running: Sequence[Live]) -> None:
        """Fill the room there is, pair by pair, from one running tournament after another."""
        desk = self._desk
        room = self._room - len(desk.jobs)
        sources = [found.id for found in running if found.id not in desk.dry]
        if room <= 0 or not sources:
            return
        at = self._clock()
        desk.resting = {game: until for game, until in desk.resting.items() if until > at}
        limit = 2 * room + len(desk.resting)
        desk.turns += 1
        start = desk.turns % len(sources)
        piles: list[deque[list[Waiting]]] = []
        for tournament_id in [*sources[start:], *sources[:start]]:
            waiting = self._store.games.waiting(tournament_id, limit)
            ready = [game for game in waiting if game.spec.id not in desk.resting]
            if len(ready) == len(waiting) < limit:
                desk.dry.add(tournament_id)
            if ready:
                piles.append(deque(list(pair) for _, pair in groupby(ready, key=lambda game: game.pair)))
            elif not waiting:  # the tournament may be over, or go on: look at once
                desk.changed.add(tournament_id)
                self._stir()
        chosen: list[list[Waiting]] = []
        while piles and len(chosen) < room:
            for pile in piles[: room - len(chosen)]:
                chosen.append(pile.popleft())
            piles = [pile for pile in piles if pile]
        for pile in piles:  # not all of it found room
            desk.dry.discard(pile[0][0].tournament_id)
        if chosen:
            self._submit(chosen)

    def _submit(self, chosen: Sequence[list[Waiting]]) -> None:
        ids = [game.spec.id for pair in chosen for game in pair]
        try:
            mine = set(self._store.games.hand_out(ids, self.holder))
        except StoreUnavailableError:
            self._desk.given_back.update(ids)  # nobody knows whether it was done
            raise
        for pair in chosen:
            games = [game for game in pair if game.spec.id in mine]
            if not games:
                continue
            job = _Job(games[0].tournament_id, games)
            future = self._executor.submit(play_bundled, job.specs, self._away, True)
            self._desk.jobs[future] = job
            self._desk.by_game.update((spec.id, job) for spec in job.specs)
            future.add_done_callback(self._is_done)

    def _is_done(self, future: Future[list[GameRecord]]) -> None:
        self._done.put(future)
        self._stir()

    # checks ...........................................................................................................

    def _check_one(self) -> None:
        """Check one uploaded version at a time, in a thread that may take its time."""
        if self._checking:
            return
        version = self._store.checks.claim()
        if version is None or version.id is None:
            return
        self._bus.publish(f"version/{version.id}/state", {"state": "checking"})
        # A daemon: an interrupted check starts anew after the next start, and its bots die with this process.
        self._checking = threading.Thread(target=self._examine, args=(version.id,), name="check", daemon=True)
        self._checking.start()

    def _examine(self, version_id: int) -> None:
        state = "uploaded"
        try:
            self._check(version_id)
            state = self._store.versions.get(version_id).state
        except ConflictError as error:
            self._log.info("check", version=version_id, error=str(error))
        except Exception as error:  # the outermost loop of this thread
            self._log.error("check", version=version_id, error=f"{type(error).__name__}: {error}")
            with contextlib.suppress(StoreError):
                self._store.checks.give_back()
        if state != "uploaded":
            self._metrics.checks.labels(state).inc()
        self._bus.publish(f"version/{version_id}/state", {"state": state})
        self._checking = None  # before the stir: who is woken must not find this thread still at it
        self._ordered.put(0)  # there may be another one
        self._stir()

    def _check_version(self, version_id: int) -> object:
        from arena.submission.receive import check_version
        from referee.sandbox import open_sandbox

        def tell(line: str) -> None:
            self._bus.publish(f"version/{version_id}/step", {"line": line})

        return check_version(
            self._store, self._place.open(), version_id, open_sandbox(self._settings.sandbox), on_step=tell
        )


def _seconds(record: GameRecord) -> float | None:
    """How long a game took by its own times; None where they do not say."""
    with contextlib.suppress(ValueError, TypeError):
        found = datetime.fromisoformat(record.finished) - datetime.fromisoformat(record.started)
        return max(0.0, found.total_seconds())
    return None


def _drained(waiting: queue.SimpleQueue[T]) -> list[T]:
    """All that waits in a queue now."""
    found = []
    with contextlib.suppress(queue.Empty):
        while True:
            found.append(waiting.get_nowait())
    return found
