"""The executor of a cluster: submits every job to a Dask scheduler as one task, and survives the loss of the scheduler.

When a worker dies, its running jobs fail with `WorkerLostError` and its queued jobs with `CancelledError`. When the
scheduler is lost, all jobs end with `CancelledError`. Submit such jobs again. Workers send plain JSON: results of jobs,
and events with the records of games.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from distributed import wait

from arena.cluster import worker
from arena.cluster.connection import CLOSE_TIMEOUT_S, ClusterState, DaskConnection, shut
from arena.cluster.jobs import decode_result
from arena.cluster.wire_config import FINISH, RESULT, SLOT, TAKEN, TOPIC, Security, configure, version
from referee.game.spec import PlannedGame
from referee.machine.pool import JobError, WorkerLostError

P = ParamSpec("P")
T = TypeVar("T")

UNKNOWN = "unknown"
"""The worker of a job that no worker has reported as started."""


class ClusterFuture(Future[T]):
    """The future of a job; `worker` is the id of the worker that runs it, if known."""

    worker = UNKNOWN


@dataclass(slots=True, eq=False)
class _Job:
    key: str
    attempts: Mapping[str, int]
    """The number of the attempt at each game."""
    future: ClusterFuture[Any]
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    is_taken: bool = False
    """Whether a worker has started the job."""
    remote: Any = None
    answer: Mapping[str, Any] | None = None
    """The event with the result of the job, or with its error."""


class ClusterExecutor(Executor):
    """Runs jobs on the workers of the scheduler at `address`. Raises ClusterError if the scheduler does not answer in
    time.

    `on_event` is called with every event of a running job, in a separate thread.
    """

    def __init__(
        self,
        address: str,
        *,
        security: Security | None = None,
        on_event: Callable[[dict[str, Any]], None] | None = None,
        connect_timeout_s: float = 10.0,
    ) -> None:
        configure()
        self._on_event = on_event
        self._topic = f"{TOPIC}-{uuid.uuid4().hex}"
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()
        self._is_closed = False
        self._connection = DaskConnection(address, security, self._topic, self._handle_events)
        self._loop = LoopThread("cluster")
        try:
            self._loop.run(self._open(connect_timeout_s))
        except BaseException:
            self._end()
            raise

    @property
    def size(self) -> int:
        """Number of slots of all workers that may get games now; 0 if there is none."""
        return self._connection.state.slots

    def describe(self) -> ClusterState:
        """Return the last known state of the workers."""
        return self._connection.state

    # -- jobs --------------------------------------------------------------------------------------------------------

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue a call of a module-level function, which must return JSON; its first argument may be planned games.

        The job waits without a timeout for a scheduler and a worker. Raises RuntimeError after shutdown.
        """
        if kwargs:
            raise TypeError("jobs of a cluster take positional arguments only")
        future: ClusterFuture[T] = ClusterFuture()
        attempts = _attempts(args)
        first = next(iter(attempts), uuid.uuid4().hex)
        key = f"pair-{first}-{uuid.uuid4().hex[:8]}"  # its games may be submitted again
        with self._lock:
            if self._is_closed:
                raise RuntimeError("this executor is closed")
            job = self._jobs[key] = _Job(key, attempts, future, fn, args)
        # In the loop's thread: the future may be settled or cancelled in any other.
        future.add_done_callback(lambda _: self._loop.call(self._recall, job))
        self._loop.call(self._start, job)
        return future

    def call_off(self, future: Future[Any]) -> None:
        """Cancel one job: it ends at once with CancelledError, and its worker stops the game."""
        if future.cancel():
            return
        with self._lock:
            found = [job for job in self._jobs.values() if job.future is future]
        for job in found:
            self._loop.call(self._stop, job)

    def quarantine(self, worker: str, why: str) -> None:
        """Send no more games to the worker with this id; its running jobs are lost."""
        self._loop.call(lambda: self._loop.begin(self._connection.quarantine(worker, why)))

    def abort(self) -> None:
        with self._lock:
            found = list(self._jobs.values())
        for job in found:
            self.call_off(job.future)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more jobs. Wait for the existing ones, or cancel them (`cancel_futures`, or without `wait`)."""
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

    # -- in the loop -------------------------------------------------------------------------------------------------

    async def _open(self, connect_timeout_s: float) -> None:
        link = await self._connection.open(connect_timeout_s)
        self._loop.begin(self._connection.keep(link))

    def _end(self) -> None:
        with contextlib.suppress(RuntimeError):
            # Closing the client alone may take twice the timeout.
            self._loop.run(self._close(), CLOSE_TIMEOUT_S * 3)
        self._loop.end(CLOSE_TIMEOUT_S)

    async def _close(self) -> None:
        await self._loop.cancel()
        for job in list(self._jobs.values()):
            _settle(job.future, error=CancelledError())
        if self._connection.link:
            await shut(self._connection.link.client)

    def _start(self, job: _Job) -> None:
        self._loop.begin(self._run_remotely(job))

    def _recall(self, job: _Job) -> None:
        """Cancel the remote task of a job whose future is done."""
        with self._lock:
            self._jobs.pop(job.key, None)
        if job.future.cancelled():
            self._stop(job)

    def _stop(self, job: _Job) -> None:
        if job.remote is not None:
            self._loop.begin(_cancel(job.remote))
        _settle(job.future, error=CancelledError())

    async def _run_remotely(self, job: _Job) -> None:
        """Send one job to a worker, and settle its future with the result."""
        link = await self._connection.linked()
        if job.future.done() or link is None:
            _settle(job.future, error=CancelledError())
            return
        arguments = (job.key, self._topic, job.function, job.arguments)
        # The version is a resource too: only workers that have the same rules offer it.
        job.remote = link.client.submit(worker.play, *arguments, key=job.key, resources={SLOT: 1, version(): 1})
        # `wait` takes the client from the context, as this one is not the default of the process.
        with link.client.as_current():
            ended = asyncio.ensure_future(wait([job.remote]))
        lost = asyncio.ensure_future(link.is_lost.wait())
        try:
            await asyncio.wait((ended, lost), return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                raise CancelledError
            ended.result()
        except (CancelledError, asyncio.CancelledError):
            # Dask cancels what a client waits for as soon as it has lost its scheduler, before the next poll can
            # notice.
            if job.remote.cancelled() and not job.future.done() and link.client.status != "running":
                self._connection.lose(link)
            _settle(job.future, error=CancelledError())
        except Exception as error:
            _settle(job.future, error=error)
        else:
            self._settle_ended(job)
        finally:
            for waiting in (ended, lost):
                waiting.cancel()
            await asyncio.gather(ended, lost, return_exceptions=True)
            job.remote.release()

    def _settle_ended(self, job: _Job) -> None:
        """Settle the future of a job whose Dask task has ended, with the answer that its worker has sent, if any."""
        if job.answer:
            _settle_answer(job.future, job.answer)
        elif job.remote.status == "error" and not job.is_taken:  # a queued job did not kill the worker
            _settle(job.future, error=CancelledError())
        else:
            _settle(job.future, error=WorkerLostError(f"the worker {job.future.worker} was lost"))

    def _handle_events(self, event: tuple[float, Sequence[Mapping[str, Any]]]) -> None:
        """Handle events of jobs: their start on a worker, their answers, and the events of their games.

        The record of a game is passed on only if the game belongs to the job that sent it, and as its attempt.
        """
        for message in event[1]:
            if message.get("event") == TAKEN:
                with self._lock:
                    job = self._jobs.get(str(message["key"]))
                if job:
                    job.future.worker = str(message["worker"])
                if job and not job.is_taken:
                    job.is_taken = True
                    with contextlib.suppress(InvalidStateError):  # cancelled in the same moment
                        job.future.set_running_or_notify_cancel()
            elif message.get("event") == RESULT:
                with self._lock:
                    job = self._jobs.get(str(message.get("key")))
                if job:
                    job.answer = message
            elif message.get("event") == FINISH:
                with self._lock:
                    job = self._jobs.get(str(message.get("key")))
                if job and self._on_event and (attempt := job.attempts.get(str(message.get("game")))):
                    self._on_event({**message, "worker": job.future.worker, "attempt": attempt})
            elif self._on_event:
                self._on_event(dict(message))


def _attempts(arguments: tuple[Any, ...]) -> dict[str, int]:
    """Return the ids of the games in a job, each with the number of its attempt."""
    games = arguments[0] if arguments and isinstance(arguments[0], Sequence) else ()
    return {game.id: game.attempt for game in games if isinstance(game, PlannedGame)}


def _settle(future: Future[Any], result: Any = None, error: BaseException | None = None) -> None:
    """Settle a future unless it is done."""
    with contextlib.suppress(InvalidStateError):
        if error is None:
            future.set_result(result)
        elif future.cancelled():
            return
        elif isinstance(error, CancelledError) and future.cancel():
            future.set_running_or_notify_cancel()  # notifies callers of `wait` and `as_completed`
        else:
            future.set_exception(error)


def _settle_answer(future: Future[Any], message: Mapping[str, Any]) -> None:
    """Settle a future with the answer of a worker; treat an invalid result as a lost worker."""
    if "error" in message:
        kind = WorkerLostError if message.get("is_lost") else JobError
        _settle(future, error=kind(str(message["error"])))
        return
    try:
        answer = decode_result(message.get("result"))  # type: ignore[arg-type]
    except (ValueError, TypeError, RecursionError) as error:
        _settle(future, error=WorkerLostError(f"its worker returned no valid result: {error}"))
    else:
        _settle(future, answer)


async def _cancel(remote: Any) -> None:
    with contextlib.suppress(OSError, TimeoutError, CancelledError):
        await remote.cancel()


class LoopThread:
    """An event loop in a thread of its own, which runs from construction until `end`."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Run a coroutine in the loop and return its result. Call this from another thread.

        Raises TimeoutError, and the exceptions of the coroutine.
        """
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout_s)

    def call(self, function: Callable[P, None], *args: P.args, **_: P.kwargs) -> None:
        """Schedule a call in the loop; ignored once the loop has ended. Thread-safe."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *args)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task. Call this in the loop only."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def cancel(self) -> None:
        """Cancel all tasks and wait for their end. Call this in the loop only."""
        while self._tasks:
            for task in self._tasks:  # repeatedly: a task that waits for two things may swallow one cancellation
                task.cancel()
            await asyncio.wait(self._tasks, timeout=0.1)

    def end(self, timeout_s: float) -> None:
        """End the loop, which runs what was called before; wait for the thread at most this long."""
        self.call(self._loop.stop)
        self._thread.join(timeout_s)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()
