"""A worker process: game slots, lent to a Dask scheduler for as long as it answers, and anew when it is back.

The loop only waits; games are played by the processes of a `SlotPool`, as on one machine. What they tell goes back
over the scheduler. Refuses to know database and broker.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import socket
import uuid
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from distributed import Status, Worker

from arena.cluster.link import SLOT, ClusterError, Security, VersionError, ask_arena, configure, reason, version
from arena.log import logger
from arena.worker import BundlePlace
from referee.pool import SlotPool

TOPIC = "arena-events"
TAKEN = "taken"
"""The event that says: this job has been begun."""
DONE = "done"
"""The event that brings a job's result: sooner and cheaper than to have it fetched from here."""
SOON_S = 0.005
BATCH_S = 0.2
LOOK_S = 0.1
"""How often it is seen whether a job is still wanted."""
VERSION_S = 2.0
ANSWER_S = 10.0
RETRY_S = 0.5
FETCH_S = 3.0
"""How long a worker that leaves waits for its last results to be fetched."""

_crew: Crew | None = None
"""The crew of this process."""


async def play(key: str, topic: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The task of a job, in the loop of the worker. Raises what the job raised, and WorkerLostError for its slot."""
    if _crew is None:
        raise ClusterError("this Dask worker has no game slots; start it with `arena worker`")
    return await _crew.play(key, topic, function, arguments)


class Crew:
    """`slots` game slots of this process; `folder` is for what the worker keeps."""

    def __init__(self, slots: int, *, sandbox: str, folder: Path, name: str = "") -> None:
        self.name = name or f"{socket.gethostname()}-{os.getpid()}"
        self._dask_name = name
        self.slots, self.sandbox, self._folder = slots, sandbox, folder
        self._pool = SlotPool(slots, sandbox=sandbox, on_event=self._tell)
        self._running: dict[str, Future[Any]] = {}
        self._topics: dict[str, str] = {}
        """Who wants to hear of a game."""
        self._bags: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._soon: asyncio.TimerHandle | None = None
        self._later: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker: Worker | None = None
        self._log = logger("worker")

    def call(self, function: Callable[[], Any]) -> None:
        """Have every slot do something once, and wait. Raises what it raises."""
        for done in [self._pool.submit(function) for _ in range(self.slots)]:
            done.result()

    def close(self) -> None:
        """End the slots."""
        self._pool.abort()
        self._pool.shutdown(cancel_futures=True)

    # -- jobs --------------------------------------------------------------------------------------------------------

    async def play(self, key: str, topic: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Do a job in a slot; call it off when nobody wants it any more."""
        games = [str(spec.id) for spec in arguments[0]] if arguments and isinstance(arguments[0], (list, tuple)) else []
        self._topics.update(dict.fromkeys(games, topic))
        self._put(topic, {"event": TAKEN, "key": key})
        worker = self._worker
        future = self._running[key] = self._pool.submit(function, *map(self._localised, arguments))
        answer = asyncio.wrap_future(future)
        try:
            while not (await asyncio.wait({answer}, timeout=LOOK_S))[0]:
                if not _is_wanted(worker, key):
                    self._pool.call_off(future)
            result = answer.result()
            self._put(topic, {"event": DONE, "key": key, "result": pickle.dumps(result)})
            return result
        finally:
            if not future.done():  # the worker is closing
                self._pool.call_off(future)
            self._flush()
            for game in games:
                self._topics.pop(game, None)
            self._running.pop(key, None)

    def _localised(self, argument: Any) -> Any:
        """An argument as this machine needs it: bundles are unpacked in the folder of this worker."""
        if isinstance(argument, BundlePlace):
            return replace(argument, cache=str(self._folder / "unpacked"))
        return argument

    # -- what games tell -----------------------------------------------------------------------------------------------

    def _tell(self, event: dict[str, Any]) -> None:
        """From a thread of the pool."""
        if self._loop:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._pass_on, event)

    def _pass_on(self, event: dict[str, Any]) -> None:
        topic = self._topics.get(str(event.get("game")))
        if topic:
            self._put(topic, event)

    def _put(self, topic: str, event: dict[str, Any]) -> None:
        """Send an event soon; plies wait for each other."""
        self._bags[topic].append(event)
        if self._loop and event["event"] != "ply":
            self._soon = self._soon or self._loop.call_later(SOON_S, self._flush)
        elif self._loop:
            self._later = self._later or self._loop.call_later(BATCH_S, self._flush)

    def _flush(self) -> None:
        for timer in (self._soon, self._later):
            if timer:
                timer.cancel()
        self._soon = self._later = None
        bags, self._bags = self._bags, defaultdict(list)
        if self._worker and self._worker.status in (Status.running, Status.closing_gracefully):
            for topic, events in bags.items():
                self._worker.log_event(topic, events)

    # -- the scheduler -------------------------------------------------------------------------------------------------

    async def work(
        self,
        address: str,
        stop: asyncio.Event,
        *,
        security: Security | None = None,
        patience_s: float = 10.0,
        grace_s: float = 20.0,
    ) -> None:
        """Serve the scheduler at `address` until `stop` is set, then let running games finish.

        Raises ClusterError when nobody answers there at first, VersionError when the arena is of another version.
        """
        global _crew  # noqa: PLW0603 - Dask's tasks are module-level functions
        configure()
        _crew, self._loop = self, asyncio.get_running_loop()
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                joining = asyncio.create_task(self._join(address, security, patience_s))
                await asyncio.wait((joining, stopping), return_when=asyncio.FIRST_COMPLETED)
                if not joining.done():
                    joining.cancel()
                    await asyncio.gather(joining, return_exceptions=True)
                    break
                worker = self._worker = joining.result()
                patience_s = float("inf")
                self._log.info("worker", name=self.name, state="ready", slots=self.slots, scheduler=address)
                try:
                    await self._serve(worker, address, security, stopping)
                    if stop.is_set():
                        await self._leave(worker, grace_s)
                finally:
                    self._worker = None
                    await worker.close(timeout=2, executor_wait=False)
                    await self._clear()
                if not stop.is_set():
                    self._log.warning("scheduler lost", address=address)
        finally:
            stopping.cancel()
            self._loop = _crew = None

    def abort(self) -> None:
        """Call off what is running."""
        self._pool.abort()

    async def _join(self, address: str, security: Security | None, patience_s: float) -> Worker:
        """Register with the scheduler, once it answers and is used by an arena of our version."""
        loop = asyncio.get_running_loop()
        until, is_told = loop.time() + patience_s, False
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
                if not is_told:
                    self._log.info("worker", name=self.name, state="waiting", scheduler=address, error=reason(error))
                    is_told = True
                await asyncio.sleep(RETRY_S)

    async def _register(self, address: str, security: Security | None) -> Worker:
        self._folder.mkdir(parents=True, exist_ok=True)
        worker = Worker(
            address,
            nthreads=self.slots,
            resources={SLOT: self.slots, version(): self.slots},
            # A name of its own each time: the scheduler may not have missed the last one yet.
            name=self._dask_name or f"{self.name}-{uuid.uuid4().hex[:6]}",
            local_directory=str(self._folder),
            memory_limit=0,
            security=security,
            dashboard_address="127.0.0.1:0",
            startup_information={
                "arena": lambda _: {"name": self.name, "version": version(), "sandbox": self.sandbox},
            },
            metrics={"arena": lambda _: {"busy": len(self._running)}},
        )
        try:
            return await worker
        except BaseException:
            await worker.close(timeout=2, executor_wait=False)
            raise

    async def _compare(self, address: str, security: Security | None) -> None:
        async with asyncio.timeout(ANSWER_S):
            theirs = await ask_arena(address, security)
        if theirs is not None and theirs != version():
            raise VersionError(
                f"the arena at {address} is version {theirs}, this worker is {version()}; "
                "install the arena's version here"
            )

    async def _serve(
        self, worker: Worker, address: str, security: Security | None, stopping: asyncio.Task[Any]
    ) -> None:
        """Until the order to stop or the end of the worker. Raises VersionError."""
        ended = asyncio.create_task(worker.finished())
        try:
            while not ended.done() and not stopping.done():
                await asyncio.wait((ended, stopping), timeout=VERSION_S, return_when=asyncio.FIRST_COMPLETED)
                with contextlib.suppress(OSError, TimeoutError):
                    await self._compare(address, security)
        finally:
            ended.cancel()
            await asyncio.gather(ended, return_exceptions=True)

    async def _leave(self, worker: Worker, grace_s: float) -> None:
        """Take no new job, let what runs finish, and wait until the results are fetched."""
        loop = asyncio.get_running_loop()
        self._log.info("worker", name=self.name, state="leaving", games=len(self._running))
        if worker.status is not Status.running:
            return
        worker.status = Status.closing_gracefully
        until = loop.time() + grace_s
        while self._running and loop.time() < until and worker.status is Status.closing_gracefully:
            await asyncio.sleep(LOOK_S)
        await self._clear()
        until = loop.time() + FETCH_S
        while _has_results(worker) and loop.time() < until:
            await asyncio.sleep(LOOK_S)

    async def _clear(self) -> None:
        """Call off what is left and see it end: the slots are free again, and no bot is left."""
        futures = list(self._running.values())
        for future in futures:
            self._pool.call_off(future)
        if futures:
            await asyncio.wait([asyncio.wrap_future(future) for future in futures])


def _has_results(worker: Worker) -> bool:
    """Whether a result is on its way: what is not fetched from here is played again."""
    return any(task.state in ("executing", "memory") for task in worker.state.tasks.values())


def _is_wanted(worker: Worker | None, key: str) -> bool:
    """Whether the scheduler still waits for a task: Dask itself lets what has begun run on."""
    task = worker.state.tasks.get(key) if worker else None
    return task is not None and task.state == "executing"
