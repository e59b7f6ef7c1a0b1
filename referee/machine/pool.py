"""A local executor of game slots: the standard `Executor` interface over one process per slot.

A slot that dies fails only its present job (`WorkerLostError`) and is replaced. If several slots in a row die before
they are ready, their jobs fail with `SlotStartError`: submitting these again would not help.
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

MAX_FAILED_STARTS = 3
"""If this many slots in a row die before they are ready, `SlotStartError` is raised."""
_SHOWN_BYTES = 2000
_END_S = 5.0
"""Seconds to wait for the end of a dead slot's standard error: children of it may hold the pipe."""
_Job = tuple["Future[Any]", Callable[..., Any], tuple[Any, ...]]


class WorkerLostError(RuntimeError):
    """The death of the process that ran the job. The job is not at fault: submit it again."""


class SlotStartError(RuntimeError):
    """The repeated death of game slots before they were ready; the message ends with the output of the last slot."""


class JobError(RuntimeError):
    """An exception that the job raised; the message is its type and text."""


class SlotPool(Executor):
    """A pool of `size` game slots. With `affinity`, each slot and its bots are pinned to a core of their own.

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
        """The socket of every slot, and the slot's present job."""
        self._failed_starts = 0
        self._called_off: set[Future[Any]] = set()
        self._is_closed = False
        self.size = size
        cores = sorted(os.sched_getaffinity(0))
        places = [(number, cores[number % len(cores)] if affinity else -1) for number in range(size)]
        # Daemons, because the end of the program must not wait for games being played.
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
        """Call off one job: a waiting job never begins, and a game being played soon ends void (`stopped`)."""
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
        """Accept no more jobs, and end the slots when the queue is empty; `cancel_futures` cancels queued jobs."""
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
        slot: _Slot | None = None
        while job := self._jobs.get():
            future, function, arguments = job
            if not future.set_running_or_notify_cancel():
                continue
            if slot and slot.process.poll() is not None:  # the slot died between jobs
                self._bury(slot)
                slot = None
            try:
                slot = slot or self._spawn(number, core)
                with self._lock:  # under the lock, so that `call_off` finds the job either sent or not begun
                    self._connections[slot.connection] = future
                    slot.connection.send((function, arguments))
                    if future in self._called_off:
                        slot.connection.send("abort")
                kind, value = self._answer(slot)
            except Exception as error:  # pickling errors too: fail this future, then continue
                if slot is None:
                    future.set_exception(WorkerLostError(f"no game slot could be started: {error}"))
                    continue
                # After an error the slot may be in the middle of a message: nothing it sends can be trusted to be an
                # answer.
                slot.process.kill()
                future.set_exception(self._fault(slot, error, *self._bury(slot)))
                slot = None
            else:
                if kind == "error":
                    future.set_exception(JobError(value))
                else:
                    future.set_result(value)
            with self._lock:
                self._called_off.discard(future)
        if slot:
            self._bury(slot)

    def _fault(self, slot: _Slot, error: Exception, code: int, words: str) -> RuntimeError:
        """Return the exception for a job that could not be sent, or whose slot ended with the exit code `code`."""
        if not isinstance(error, EOFError | OSError):
            return JobError(repr(error))
        if slot.is_ready:
            return WorkerLostError(f"a game slot ended with {code} ({error!r})")
        with self._lock:
            self._failed_starts += 1
            kind = SlotStartError if self._failed_starts >= MAX_FAILED_STARTS else WorkerLostError
        return kind(f"a game slot ended with {code} before it was ready" + (f":\n{words}" if words else ""))

    def _spawn(self, number: int, core: int) -> _Slot:
        ours, theirs = socket.socketpair()
        # Only the slot may hold its end: then the socket closes when the slot dies, which ends the wait for its answer.
        with theirs:
            opened = (self.sandbox, int(self._is_own))
            words = (theirs.fileno(), *opened, core, self._spare, number, int(self._on_event is not None))
            try:
                process = helper.start("referee.play.slot", *words, stderr=helper.PIPE, pass_fds=[theirs.fileno()])
            except OSError:
                ours.close()
                raise
        slot = _Slot(process, Connection(ours.detach()))
        with self._lock:
            self._connections[slot.connection] = None
        return slot

    def _answer(self, slot: _Slot) -> tuple[str, Any]:
        while True:
            kind, value = slot.connection.recv()
            if kind == "ready":
                slot.is_ready = True
                with self._lock:
                    self._failed_starts = 0
            elif kind == "events":
                for event in value:
                    if self._on_event:
                        self._on_event(event)
            else:
                with self._lock:
                    self._connections[slot.connection] = None
                return kind, value

    def _bury(self, slot: _Slot) -> tuple[int, str]:
        """Disconnect from a slot, wait for its end, and return its exit code and the end of its standard error."""
        with self._lock:
            # Before it is closed: `abort` must never write to a descriptor with the same number that is another file by
            # then.
            self._connections.pop(slot.connection, None)
        slot.connection.close()
        return slot.process.wait(), slot.printed()


class _Slot:
    """A slot's process, its socket, and a thread that forwards its standard error."""

    def __init__(self, process: helper.Popen, connection: Connection) -> None:
        assert process.stderr
        self.process, self.connection, self.is_ready = process, connection, False
        self._pipe, self._tail = process.stderr, b""
        self._thread = threading.Thread(target=self._pass_on, daemon=True)
        self._thread.start()

    def _pass_on(self) -> None:
        with self._pipe:
            while part := os.read(self._pipe.fileno(), 65536):
                self._tail = (self._tail + part)[-_SHOWN_BYTES:]
                with contextlib.suppress(OSError):
                    os.write(2, part)

    def printed(self) -> str:
        """Return the end of the standard error of an ended slot."""
        self._thread.join(_END_S)
        return self._tail.decode("utf-8", "replace").strip()
