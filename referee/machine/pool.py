"""A local executor of game slots: the standard `Executor` interface over one process per slot.

A slot that dies fails only its present job (`WorkerLostError`) and is replaced.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

from referee.machine import helper

P = ParamSpec("P")
T = TypeVar("T")

_Job = tuple["Future[Any]", Callable[..., Any], tuple[Any, ...]]


class WorkerLostError(RuntimeError):
    """The process that had the job died: not the job's fault, submit it again."""


class JobError(RuntimeError):
    """The job raised; the message is that exception's type and text."""


class SlotPool(Executor):
    """`size` game slots. With `affinity` each is pinned to a core of its own, and so are its bots.

    `spare` is the number of idle bots a slot keeps running (see `Roster`). `on_event` is called with every event of a
    running job, from a thread of the pool; without it no events are sent. A slot is started for its first job.
    `is_own`: the bots belong to the person who started this process (see `open_sandbox`).
    """

    def __init__(
        self,
        size: int,
        *,
        sandbox: str = "none",
        affinity: bool = False,
        spare: int = 0,
        on_event: Callable[[dict[str, Any]], None] | None = None,
        is_own: bool = False,
    ) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._on_event = on_event
        self.sandbox, self._is_own = sandbox, is_own
        self._spare = spare
        self._lock = threading.Lock()
        self._connections: dict[Connection, Future[Any] | None] = {}
        """Every slot's socket, and its present job."""
        self._called_off: set[Future[Any]] = set()
        self._is_closed = False
        self.size = size
        cores = sorted(os.sched_getaffinity(0))
        places = [(number, cores[number % len(cores)] if affinity else -1) for number in range(size)]
        self._threads = [threading.Thread(target=self._run, args=place, daemon=True) for place in places]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue a call of a module-level function. Raises RuntimeError after shutdown."""
        if kwargs:
            raise TypeError("jobs of game slots take positional arguments only")
        with self._lock:
            if self._is_closed:
                raise RuntimeError("this pool is closed")
        future: Future[T] = Future()
        self._jobs.put((future, fn, args))
        return future

    def abort(self) -> None:
        """Call off the games being played; their jobs end soon with the records they have."""
        with self._lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.send("abort")

    def call_off(self, future: Future[Any]) -> None:
        """Call off one job: if it has not begun it never does, and a game being played ends soon, void (`stopped`)."""
        if future.cancel():
            return
        with self._lock:
            for connection, present in self._connections.items():
                if present is future:
                    with contextlib.suppress(OSError):
                        connection.send("abort")
                    return
            if not future.done():  # its slot is just being started
                self._called_off.add(future)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more jobs; end the slots when the queue is empty, or cancel the queue with `cancel_futures`."""
        with self._lock:
            self._is_closed = True
        if cancel_futures:
            with contextlib.suppress(queue.Empty):
                while job := self._jobs.get_nowait():
                    job[0].cancel()
        for _ in self._threads:
            self._jobs.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    # -- one thread per slot -------------------------------------------------------------------------------------

    def _run(self, number: int, core: int) -> None:
        process: helper.Popen | None = None
        connection: Connection | None = None
        while job := self._jobs.get():
            future, function, arguments = job
            if not future.set_running_or_notify_cancel():
                continue
            if connection and process and process.poll() is not None:  # it died while it had nothing to do
                self._forget(connection)
                process = connection = None
            try:
                if process is None or connection is None:
                    process, connection = self._spawn(number, core)
                with self._lock:  # `call_off` finds the job sent, or not yet begun
                    self._connections[connection] = future
                    connection.send((function, arguments))
                    if future in self._called_off:
                        connection.send("abort")
                kind, value = self._answer(connection)
            except Exception as error:  # pickling errors too: fail this future, then continue
                if process is None or connection is None:
                    future.set_exception(WorkerLostError(f"no game slot could be started: {error}"))
                    continue
                self._forget(connection)
                process.kill()
                code = process.wait()
                future.set_exception(
                    WorkerLostError(f"a game slot ended with {code} ({error!r})")
                    if isinstance(error, EOFError | OSError)
                    else JobError(repr(error))
                )
                process = connection = None
            else:
                if kind == "error":
                    future.set_exception(JobError(value))
                else:
                    future.set_result(value)
            with self._lock:
                self._called_off.discard(future)
        if process and connection:
            self._forget(connection)
            process.wait()

    def _spawn(self, number: int, core: int) -> tuple[helper.Popen, Connection]:
        ours, theirs = socket.socketpair()
        with theirs:
            opened = (self.sandbox, int(self._is_own))
            words = (theirs.fileno(), *opened, core, self._spare, number, int(self._on_event is not None))
            try:
                process = helper.start("referee.play.slot", *words, pass_fds=[theirs.fileno()])
            except OSError:
                ours.close()
                raise
        connection = Connection(ours.detach())
        with self._lock:
            self._connections[connection] = None
        return process, connection

    def _answer(self, connection: Connection) -> tuple[str, Any]:
        while True:
            kind, value = connection.recv()
            if kind != "events":
                with self._lock:
                    self._connections[connection] = None
                return kind, value
            for event in value:
                if self._on_event:
                    self._on_event(event)

    def _forget(self, connection: Connection) -> None:
        with self._lock:
            self._connections.pop(connection, None)
        connection.close()
