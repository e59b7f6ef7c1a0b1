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

from arena.coordinator.outage_log import OutageLog
from arena.errors import LeaseLostError, StoreUnavailableError
from arena.log import logger

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
