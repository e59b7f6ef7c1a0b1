"""The executor of a cluster: hands every job to a Dask scheduler as one task, and survives the scheduler.

A worker that dies fails the jobs it had begun (`WorkerLostError`); what only waited there, and everything that was out
when the scheduler was lost, ends with `CancelledError`: hand it out again. Refuses to know what a job is.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

import distributed
from distributed import Client, KilledWorker

from arena.cluster import worker
from arena.cluster.link import METADATA, SLOT, ClusterError, Security, configure, reason, version
from arena.cluster.state import ClusterState, state_of
from arena.log import logger
from referee.pool import WorkerLostError

P = ParamSpec("P")
T = TypeVar("T")
LOOK_S = 1.0
"""How often the workers are counted."""
ANSWER_S = 10.0
"""A scheduler that takes longer to answer is lost."""
CONNECT_S = 5.0
RETRY_S = 0.5
CLOSE_S = 3.0


@dataclass(slots=True, eq=False)
class _Job:
    key: str
    name: str
    future: Future[Any]
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    is_taken: bool = False
    """A worker has begun it."""
    remote: Any = None


@dataclass(slots=True, eq=False)
class _Link:
    """A connection to the scheduler, until it is lost."""

    client: Client
    is_lost: asyncio.Event = field(default_factory=asyncio.Event)


class ClusterExecutor(Executor):
    """Plays jobs on the workers of the scheduler at `address`. Raises ClusterError when nobody answers there in time.

    `on_event` is called with every event of a job being done, from a thread of its own.
    """

    def __init__(
        self,
        address: str,
        *,
        security: Security | None = None,
        on_event: Callable[[dict[str, Any]], None] | None = None,
        patience_s: float = 10.0,
    ) -> None:
        configure()
        self._address, self._security, self._on_event = address, security, on_event
        self._topic = f"{worker.TOPIC}-{uuid.uuid4().hex}"
        self._log = logger("cluster")
        self._jobs: dict[str, _Job] = {}
        self._tries: dict[str, int] = {}
        """How often a job's games were handed out before; forgotten when they end well."""
        self._lock = threading.Lock()
        self._is_closed = False
        self._state = ClusterState(address)
        self._link: _Link | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._linked = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="cluster", daemon=True)
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._begin(patience_s), self._loop).result()
        except BaseException:
            self._end()
            raise

    @property
    def size(self) -> int:
        """How many jobs the fit workers there are now do at once; 0 without any."""
        return self._state.slots

    def describe(self) -> ClusterState:
        """What there is to play on, as last heard."""
        return self._state

    # -- jobs --------------------------------------------------------------------------------------------------------

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue a call of a module-level function, whose first argument is what it is named after: game specs.

        Waits for a scheduler and a worker as long as it takes. Raises RuntimeError after shutdown.
        """
        if kwargs:
            raise TypeError("jobs of a cluster take positional arguments only")
        future: Future[T] = Future()
        name = _name(args)
        with self._lock:
            if self._is_closed:
                raise RuntimeError("this executor is closed")
            number = self._tries[name] = self._tries.get(name, 0) + 1
            key = f"pair-{name}-{number}"
            job = self._jobs[key] = _Job(key, name, future, fn, args)
        future.add_done_callback(lambda _: self._call(self._recall, job))
        self._call(self._start, job)
        return future

    def call_off(self, future: Future[Any]) -> None:
        """Call off one job: it ends at once with CancelledError, and its worker stops the game."""
        if future.cancel():
            return
        with self._lock:
            found = [job for job in self._jobs.values() if job.future is future]
        for job in found:
            self._call(self._stop, job)

    def abort(self) -> None:
        """Call off everything."""
        with self._lock:
            found = list(self._jobs.values())
        for job in found:
            self.call_off(job.future)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more jobs; without `cancel_futures` wait for those there are."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            left = [job.future for job in self._jobs.values()]
        if cancel_futures or not wait:
            self.abort()
        else:
            for future in left:
                with contextlib.suppress(Exception):
                    future.exception()
        self._end()

    def _call(self, function: Callable[[_Job], None], job: _Job) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: so has every job
            self._loop.call_soon_threadsafe(function, job)

    # -- in the loop -------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    def _end(self) -> None:
        with contextlib.suppress(RuntimeError):
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(CLOSE_S * 3)
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_S)

    async def _close(self) -> None:
        while self._tasks:
            for task in self._tasks:  # again and again: what waits for two things at once may miss one
                task.cancel()
            await asyncio.wait(self._tasks, timeout=0.1)
        for job in list(self._jobs.values()):
            _settle(job.future, error=CancelledError())
        if self._link:
            await _shut(self._link.client)

    def _task(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _start(self, job: _Job) -> None:
        self._task(self._carry(job))

    def _recall(self, job: _Job) -> None:
        """A job's future is done, by whomever: nobody wants it from the cluster any more."""
        with self._lock:
            self._jobs.pop(job.key, None)
        if job.future.cancelled():
            self._stop(job)

    def _stop(self, job: _Job) -> None:
        if job.remote is not None:
            self._task(_cancel(job.remote))
        _settle(job.future, error=CancelledError())

    async def _carry(self, job: _Job) -> None:
        """Bring one job to a worker, and its result back."""
        await self._linked.wait()
        link = self._link
        if job.future.done() or link is None:
            _settle(job.future, error=CancelledError())
            return
        arguments = (job.key, self._topic, job.function, job.arguments)
        job.remote = link.client.submit(
            worker.play, *arguments, key=job.key, pure=False, retries=0, resources={SLOT: 1, version(): 1}
        )
        answer = asyncio.ensure_future(_end_of(job, link.client))
        lost = asyncio.ensure_future(link.is_lost.wait())
        try:
            await asyncio.wait((answer, lost), return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise CancelledError
            result = answer.result()
        except (CancelledError, asyncio.CancelledError):
            if job.remote.cancelled() and not job.future.done() and link.client.status != "running":
                self._lose(link)
            _settle(job.future, error=CancelledError())
        except KilledWorker as error:
            # What only waited there has killed nobody.
            lost_error = WorkerLostError(f"the worker {error.last_worker.name} was lost")
            _settle(job.future, error=lost_error if job.is_taken else CancelledError())
        except Exception as error:
            _settle(job.future, error=error)
        else:
            with self._lock:
                self._tries.pop(job.name, None)
            _settle(job.future, result)
        finally:
            for waiting in (answer, lost):
                waiting.cancel()
            await asyncio.gather(answer, lost, return_exceptions=True)
            job.remote.release()

    def _hear(self, event: tuple[float, Sequence[Mapping[str, Any]]]) -> None:
        """Events of jobs: that a worker has taken one, and what the games themselves tell."""
        for found in event[1]:
            if found.get("event") == worker.TAKEN:
                with self._lock:
                    job = self._jobs.get(str(found["key"]))
                if job and not job.is_taken:
                    job.is_taken = True
                    with contextlib.suppress(InvalidStateError):
                        job.future.set_running_or_notify_cancel()
            elif found.get("event") == worker.DONE:
                with self._lock:
                    job = self._jobs.get(str(found["key"]))
                    if job:
                        self._tries.pop(job.name, None)
                if job:
                    _settle(job.future, pickle.loads(found["result"]))  # noqa: S301 - from our own workers
            elif self._on_event:
                self._on_event(dict(found))

    # -- the scheduler -----------------------------------------------------------------------------------------------

    async def _begin(self, patience_s: float) -> None:
        until = self._loop.time() + patience_s
        while True:
            try:
                link = await self._connect(min(CONNECT_S, patience_s))
                break
            except (OSError, TimeoutError) as error:
                if self._loop.time() >= until:
                    raise ClusterError(
                        f"no Dask scheduler answers at {self._address}: {reason(error)}; "
                        "start one with `arena scheduler`, or change the setting executor"
                    ) from None
                await asyncio.sleep(RETRY_S)
        self._task(self._keep(link))

    async def _connect(self, timeout_s: float) -> _Link:
        """Raises OSError, TimeoutError."""
        client = Client(
            self._address,
            asynchronous=True,
            timeout=timeout_s,
            security=self._security,
            set_as_default=False,
            name="arena",
        )
        try:
            await client
            await client.set_metadata(METADATA, {"version": version()})
            await client.run_on_scheduler(_tune)
            self._subscribe(client)
            self._count(await client.scheduler.identity(n_workers=-1))
        except BaseException:
            await _shut(client)
            raise
        link = self._link = _Link(client)
        self._linked.set()
        return link

    async def _keep(self, link: _Link) -> None:
        """Watch the scheduler; connect anew whenever it is lost, until the end."""
        while not self._is_closed:
            await self._watch(link)
            self._lose(link)
            await _shut(link.client)
            is_told = False
            while not self._is_closed:
                try:
                    link = await self._connect(CONNECT_S)
                    break
                except (OSError, TimeoutError, ValueError) as error:
                    if not is_told:
                        self._log.warning("scheduler away", address=self._address, error=reason(error))
                        is_told = True
                    await asyncio.sleep(RETRY_S)
            self._log.info("scheduler", address=self._address, slots=self.size)

    def _lose(self, link: _Link) -> None:
        if self._link is link:
            self._log.warning("scheduler lost", address=self._address, jobs=len(self._jobs))
            self._link = None
            self._linked.clear()
            self._state = ClusterState(self._address)
        link.is_lost.set()

    async def _watch(self, link: _Link) -> None:
        """Count the workers until the connection is lost or another scheduler has taken the place of this one."""
        client, first = link.client, None
        while client.status == "running" and not link.is_lost.is_set() and not self._is_closed:
            try:
                async with asyncio.timeout(ANSWER_S):
                    identity = await client.scheduler.identity(n_workers=-1)
            except (OSError, TimeoutError, ValueError):
                return
            first = first or identity["id"]
            if identity["id"] != first or client.status != "running":
                return
            self._count(identity)
            # Once more: after a cut too short to be seen here, the scheduler knows of no subscriptions.
            self._subscribe(client)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await link.is_lost.wait()

    def _subscribe(self, client: Client) -> None:
        client.subscribe_topic(self._topic, self._hear)

    def _count(self, identity: Mapping[str, Any]) -> None:
        before = {worker.name for worker in self._state.refused}
        self._state = state_of(self._address, identity)
        for refused in self._state.refused:
            if refused.name not in before:
                self._log.warning("worker refused", name=refused.name, version=refused.version, wanted=version())


def _tune(dask_scheduler: Any) -> None:
    """Set what matters on a scheduler that somebody else started, such as `dask scheduler`."""
    dask_scheduler.allowed_failures = 0


def _name(arguments: tuple[Any, ...]) -> str:
    """What a job is called: its first game."""
    first = arguments[0] if arguments else None
    if isinstance(first, Sequence) and first and hasattr(first[0], "id"):
        return str(first[0].id)
    return uuid.uuid4().hex


def _settle(future: Future[Any], result: Any = None, error: BaseException | None = None) -> None:
    """Give a future its end, unless it has one."""
    with contextlib.suppress(InvalidStateError):
        if error is None:
            future.set_result(result)
        elif not (isinstance(error, CancelledError) and future.cancel()):
            future.set_exception(error)


async def _end_of(job: _Job, client: Client) -> Any:
    """What became of a task; its result is fetched only if the worker's own word of it did not come."""
    with client.as_current():
        waiting = distributed.wait([job.remote])
    await waiting
    if job.remote.status == "finished" and job.future.done():
        return None
    return await job.remote.result()


async def _cancel(remote: Any) -> None:
    with contextlib.suppress(OSError, TimeoutError, CancelledError):
        await remote.cancel()


async def _shut(client: Client) -> None:
    with contextlib.suppress(OSError, TimeoutError, CancelledError):
        async with asyncio.timeout(2 * CLOSE_S):
            await client.close(timeout=CLOSE_S)
