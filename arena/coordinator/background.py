"""Background work of the coordinator: one thread for each kind, all with the same lifecycle.

Threads run only while this process owns the lease, and their writes are fenced by it. An exception ends one attempt,
never the thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from arena.cluster.spool import Backlog
from arena.errors import LeaseLostError, StoreUnavailableError
from arena.log import logger

REMINDER_INTERVAL_S = 600.0
"""How often a lasting outage is logged."""
RETRY_INTERVAL_S = 10.0
"""Shortest pause after a failure, unless the work is woken."""
STOP_TIMEOUT_S = 10.0
"""Time for all background work to end; after that it ends with the process."""


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Conditions:
    """Settings shared by all background work of one coordinator.

    `fenced` returns the context in which only the owner of the lease can write. `outage` logs failures of the database.
    `count_failure` counts other exceptions by the name of the work.
    """

    fenced: Callable[[], AbstractContextManager[None]]
    outage: OutageLog
    count_failure: Callable[[str], None]


class Background:
    """Work that runs at the start, every `interval_s` seconds (None: once only), and when it is woken.

    `work` is called with an event that is set when the work must end soon, and returns whether it did anything. `close`
    is called in the same thread at the end and, if there is an interval, after each attempt that did nothing or failed.
    `interrupt` is called in any thread when the work must end.
    """

    def __init__(
        self,
        name: str,
        interval_s: float | None,
        work: Callable[[threading.Event], object],
        conditions: Conditions,
        *,
        interrupt: Callable[[], None] = _nothing,
        close: Callable[[], None] = _nothing,
    ) -> None:
        self.name = name
        self._interval_s, self._work, self._conditions = interval_s, work, conditions
        self._interrupt, self._close = interrupt, close
        self._woken, self._stop = threading.Event(), threading.Event()
        self._alone = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start the thread, which first waits for an earlier one that has been stopped but has not ended."""
        # A new event: the earlier thread may not have seen yet that its own is set.
        self._stop = stop = threading.Event()
        # A daemon: work that does not end in time dies with the process; the next coordinator repeats it.
        self._thread = threading.Thread(target=self._run, args=(stop,), name=self.name, daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Run the work now; if it is running, run it once more afterwards. Thread-safe."""
        self._woken.set()

    def end(self) -> None:
        """Request the end without waiting for it. Thread-safe."""
        if self._thread is not None and not self._stop.is_set():
            self._stop.set()
            self._woken.set()
            self._interrupt()

    def join(self, seconds: float) -> None:
        """Wait until the thread has ended, for at most this many seconds."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self, stop: threading.Event) -> None:
        with self._alone:
            while not stop.is_set():
                # Before the attempt: a wake-up while it runs must cause another one.
                self._woken.clear()
                rest_s = self._attempt(stop)
                if rest_s is None:
                    break
                if not stop.is_set():
                    self._woken.wait(rest_s)
            self._close()

    def _attempt(self, stop: threading.Event) -> float | None:
        """Run the work once; return the seconds until it is due again (None: never)."""
        conditions, rest_s = self._conditions, self._interval_s
        try:
            with conditions.fenced():
                did_anything = self._work(stop)
            conditions.outage.over(self.name)
            if did_anything:
                return rest_s
        except LeaseLostError:  # the coordinator notices too, and ends this work
            pass
        except StoreUnavailableError as error:
            conditions.outage.note(error, self.name)
        except Exception as error:  # the outermost loop of this thread
            conditions.count_failure(self.name)
            problem = f"{type(error).__name__}: {error}"
            logger("coordinator").error("background work failed", work=self.name, error=problem)
            rest_s = None if rest_s is None else max(rest_s, RETRY_INTERVAL_S)
        # Nothing to do for a while: helper processes end and give their memory back.
        if rest_s is not None:
            self._close()
        return rest_s


def stop(works: Iterable[Background], seconds: float = STOP_TIMEOUT_S) -> None:
    """End several kinds of background work and wait for their end, for at most this many seconds in total."""
    ending = list(works)
    for work in ending:
        work.end()
    until = time.monotonic() + seconds
    for work in ending:
        work.join(max(0.0, until - time.monotonic()))


class OutageLog:
    """The outages of the database. Concurrent tasks report them: `note` after a failure, `over` after a success.

    An outage ends when every task that failed has succeeded. Its start and its end are logged, with a reminder every
    ten minutes. `backlog` returns the waiting results.
    """

    def __init__(self, backlog: Callable[[], Backlog], clock: Callable[[], float] = time.monotonic) -> None:
        self._backlog, self._clock = backlog, clock
        self._failed: set[str] = set()
        self._started_at = self._logged_at = 0.0
        self._log = logger("coordinator")

    def note(self, error: Exception, task: str) -> None:
        at = self._clock()
        if not self._failed:
            self._started_at = at
        if not self._failed or at - self._logged_at >= REMINDER_INTERVAL_S:
            self._logged_at = at
            self._log.warning("database unavailable", error=str(error), **self._waiting())
        self._failed.add(task)

    def over(self, task: str) -> None:
        if task in self._failed:
            self._failed.discard(task)
            if not self._failed:
                self._log.info(
                    "database available", after_s=round(self._clock() - self._started_at, 1), **self._waiting()
                )

    def _waiting(self) -> dict[str, int | str | None]:
        """Return the fields of a log line about the results that wait for the database."""
        found = self._backlog()
        since = found.since.isoformat() if found.since else None
        return {"results_waiting": found.count, "results_waiting_since": since}
