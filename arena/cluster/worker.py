"""A worker process: game slots for a Dask scheduler. It reconnects whenever the scheduler is lost.

The event loop only waits; games are played by the processes of a `SlotPool`, as on a single machine. Their events
return through the scheduler. Liveness and readiness probes read a file that the worker renews, and need no port.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from distributed import Status
from distributed import Worker as DaskWorker

from arena.cluster.jobs import EventStream, Jobs
from arena.cluster.warm_up import SpeedMeter, WarmUp
from arena.cluster.wire_config import (
    SLOT,
    ClusterError,
    QuarantinedError,
    Security,
    VersionError,
    ask_arena,
    configure,
    difference,
    host_towards,
    reason,
    version,
)
from arena.data_folder import make_folder
from arena.log import logger
from referee.game.spec import PlannedGame

HEARTBEAT_INTERVAL_S = 5.0
"""How often the file is rewritten: a file several times as old belongs to a hanging process."""
POLL_INTERVAL_S = 0.1
"""How often a worker that is stopping checks whether it may exit."""
VERSION_CHECK_INTERVAL_S = 2.0
ANSWER_TIMEOUT_S = 10.0
RETRY_INTERVAL_S = 0.5
FETCH_TIMEOUT_S = 3.0
"""How long a worker that is stopping waits until its last results are fetched."""

_worker: ClusterWorker | None = None
"""The worker of this process."""


async def play(key: str, topic: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Run a job in the event loop of the worker. This is the Dask task; its result is sent as an event."""
    if _worker is None:
        raise ClusterError("this Dask worker has no game slots; start it with `arena worker`")
    await _worker.play(key, topic, function, arguments)


class ClusterWorker:
    """A worker with `slots` game slots; it keeps its files in `folder`."""

    def __init__(self, slots: int, *, sandbox: str, folder: Path, name: str = "") -> None:
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self.id = f"{self.name}-{uuid.uuid4().hex[:6]}"
        """Unique id of this process: its results are attributed to it."""
        self._dask_name = name
        self.sandbox, self._folder = sandbox, folder
        self._event_stream = EventStream(self._send)
        self.jobs = Jobs(slots, sandbox=sandbox, folder=folder, event_stream=self._event_stream, worker=self.id)
        self.speed = SpeedMeter(self.jobs, self.name)
        self.heartbeat = Heartbeat(folder)
        self.warm_up: WarmUp | None = None
        """The warm-up, if any: games of a family wait until it is compiled."""
        self._dask: DaskWorker | None = None
        self._log = logger("worker")

    async def play(self, key: str, topic: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        """Run a job of the current scheduler, once the families of its games are compiled."""
        dask = self._dask

        def is_awaited() -> bool:
            return _is_awaited(dask, key)

        if self.warm_up:
            for family in _families_of(arguments):
                if not await self.warm_up.wait_for(family, is_awaited):
                    return
        await self.jobs.play(key, topic, function, arguments, is_awaited)

    def _send(self, topic: str, events: list[dict[str, Any]]) -> None:
        if self._dask and self._dask.status is Status.running:
            self._dask.log_event(topic, events)

    async def work(
        self,
        address: str,
        stop: asyncio.Event,
        *,
        security: Security | None = None,
        connect_timeout_s: float = 10.0,
        grace_s: float = 20.0,
    ) -> None:
        """Serve the scheduler at `address` until `stop` is set, then let running games finish.

        Raises ClusterError when the scheduler does not answer at first, VersionError when the arena has another
        version, and QuarantinedError when the arena has quarantined this worker.
        """
        global _worker  # noqa: PLW0603 - Dask's tasks are module-level functions
        configure()
        _worker = self
        self._event_stream.open(asyncio.get_running_loop())
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                joining = asyncio.create_task(self._join(address, security, connect_timeout_s))
                await asyncio.wait((joining, stopping), return_when=asyncio.FIRST_COMPLETED)
                if not joining.done():
                    joining.cancel()
                    await asyncio.gather(joining, return_exceptions=True)
                    break
                dask = joining.result()
                # A scheduler that was there once is only being restarted: wait as long as that takes.
                connect_timeout_s = float("inf")
                self.heartbeat.become("ready")
                self._log.info("worker", name=self.name, state="ready", slots=self.jobs.slots, scheduler=address)
                try:
                    await self._serve(dask, address, security, stopping)
                    if stop.is_set():
                        await self._leave(dask, grace_s)
                finally:
                    self._dask = None
                    await dask.close(timeout=2, executor_wait=False)
                    await self.jobs.clear()
                if not stop.is_set():
                    self._log.warning("scheduler lost", address=address)
        finally:
            stopping.cancel()
            self._event_stream.close()
            _worker = None

    async def _join(self, address: str, security: Security | None, connect_timeout_s: float) -> DaskWorker:
        """Register with the scheduler as soon as it answers, unless its arena has another version."""
        loop = asyncio.get_running_loop()
        self.heartbeat.become("waiting")
        until, is_logged = loop.time() + connect_timeout_s, False
        while True:
            try:
                await self._compare(address, security)
                return await self._register(address, security)
            except (OSError, TimeoutError, ValueError) as error:
                if loop.time() >= until:
                    raise ClusterError(
                        f"no Dask scheduler answers at {address}: {reason(error)}; "
                        "start one with `arena scheduler`, or give another --scheduler"
                    ) from None
                if not is_logged:
                    self._log.info("worker", name=self.name, state="waiting", scheduler=address, error=reason(error))
                    is_logged = True
                await asyncio.sleep(RETRY_INTERVAL_S)

    async def _register(self, address: str, security: Security | None) -> DaskWorker:
        make_folder(self._folder)
        dask = DaskWorker(
            address,
            nthreads=self.jobs.slots,
            resources={SLOT: self.jobs.slots, version(): self.jobs.slots},
            # A new name for each registration: the scheduler may still have the previous one.
            name=self._dask_name or f"{self.name}-{uuid.uuid4().hex[:6]}",
            local_directory=str(self._folder),
            # No limit of Dask's: what needs memory, slots and bots, is not in this process.
            memory_limit=0,
            security=security,
            host=host_towards(address),
            # Dask opens this port in any case: on this machine only, and whichever is free.
            dashboard_address="127.0.0.1:0",
            startup_information={
                "arena": lambda _: {
                    "name": self.name,
                    "id": self.id,
                    "version": version(),
                    "sandbox": self.sandbox,
                },
            },
            metrics={"arena": lambda _: {"busy": len(self.jobs), "speed": self.speed.leaves}},
        )
        # Set this first: a game may arrive before the registration returns, and would otherwise be called off.
        self._dask = dask
        try:
            return await dask
        except BaseException:
            self._dask = None
            await dask.close(timeout=2, executor_wait=False)
            raise

    async def _compare(self, address: str, security: Security | None) -> None:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            theirs = await ask_arena(address, security)
        if theirs is None:
            return
        if why := (theirs.get("quarantined") or {}).get(self.id):
            raise QuarantinedError(
                f"the arena at {address} has quarantined this worker: {why}; "
                "check its installation, its memory and the load of its machine before you start it again"
            )
        if mismatch := difference(theirs):
            raise VersionError(f"the arena at {address} {mismatch}; install the arena's version here")

    async def _serve(
        self, dask: DaskWorker, address: str, security: Security | None, stopping: asyncio.Task[Any]
    ) -> None:
        """Serve until the order to stop or the end of the Dask worker. Raises VersionError, QuarantinedError."""
        ended = asyncio.create_task(dask.finished())
        try:
            while not ended.done() and not stopping.done():
                await asyncio.wait(
                    (ended, stopping), timeout=VERSION_CHECK_INTERVAL_S, return_when=asyncio.FIRST_COMPLETED
                )
                with contextlib.suppress(OSError, TimeoutError):
                    await self._compare(address, security)
        finally:
            ended.cancel()
            await asyncio.gather(ended, return_exceptions=True)

    async def _leave(self, dask: DaskWorker, grace_s: float) -> None:
        """Accept no new jobs, let running ones finish, and wait until the scheduler has fetched their results."""
        loop = asyncio.get_running_loop()
        self.heartbeat.become("leaving")
        self._log.info("worker", name=self.name, state="leaving", games=len(self.jobs))
        if dask.status is not Status.running:
            return
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                await dask.set_resources(**{SLOT: 0})  # each job takes one, so the scheduler sends no more
        until = loop.time() + grace_s
        while self.jobs and loop.time() < until and dask.status is Status.running:
            await asyncio.sleep(POLL_INTERVAL_S)
        await self.jobs.clear()
        until = loop.time() + FETCH_TIMEOUT_S
        while _has_results(dask) and loop.time() < until:
            await asyncio.sleep(POLL_INTERVAL_S)


def _families_of(arguments: tuple[Any, ...]) -> set[str]:
    games = arguments[0] if arguments and isinstance(arguments[0], (list, tuple)) else ()
    return {game.spec.family for game in games if isinstance(game, PlannedGame)}


def _has_results(dask: DaskWorker) -> bool:
    """Return whether the scheduler still has to fetch a result. If the worker stopped before that, the games of this
    result would be played again.
    """
    return any(task.state in ("executing", "memory") for task in dask.state.tasks.values())


def _is_awaited(dask: DaskWorker | None, key: str) -> bool:
    """Return whether the scheduler still waits for a task. Dask never stops a task that is already running."""
    task = dask.state.tasks.get(key) if dask else None
    return task is not None and task.state == "executing"


class Heartbeat:
    """The file `state` in a folder: its content is the worker's state, its mtime the time of the last heartbeat.

    States: `warming` up, `waiting` for a scheduler, `ready`, `leaving`. The event loop writes the file, so that it ages
    when the loop hangs.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "state"
        self._word = "warming"
        self._is_logged = False
        self._log = logger("worker")

    def become(self, word: str) -> None:
        self._word = word
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self.path.with_name("state.new")  # atomic: readers never see a partial word
            fresh.write_text(f"{word}\n", encoding="ascii")
            fresh.replace(self.path)
            self._is_logged = False
        except OSError as error:
            if not self._is_logged:
                self._log.warning("heartbeat not written", file=str(self.path), error=error.strerror or str(error))
            self._is_logged = True

    @contextlib.asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Rewrite the file periodically while the `with` block runs; then remove the file."""
        task = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)

    async def _beat(self) -> None:
        while True:
            self.become(self._word)
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)
