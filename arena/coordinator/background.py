"""Work that the coordinator has done beside its turns: each kind in a thread of its own, all with one lifecycle.

A thread only runs while this process has the lease, and what it writes is fenced by that. An exception ends one
attempt, never the thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from arena.coordinator.outage_log import OutageLog
from arena.log import logger
from arena.store import LeaseLostError, StoreUnavailableError

RETRY_INTERVAL_S = 10.0
"""How long work rests at least that has failed, unless somebody wakes it."""
STOP_TIMEOUT_S = 10.0
"""How long all background work of a process may take to end; what takes longer is left to die with the process."""


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the background work of one coordinator has in common.

    `fenced` makes that only the owner of the lease writes, `outage` reports a database that is away, and
    `count_failure` counts other exceptions by the name of the work.
    """

    fenced: Callable[[], AbstractContextManager[None]]
    outage: OutageLog
    count_failure: Callable[[str], None]


class Background:
    """`work` is done when it begins, every `interval_s` seconds (None: once only), and when somebody wakes it.

    `work` gets the event that is set when it must end soon, and returns whether it did anything. `close` is called in
    the same thread when it did not, and at the end; `interrupt`, in any thread, when it must end.
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
        """Start the thread; one that has not ended yet although it was stopped is waited for there."""
        self._stop = stop = threading.Event()
        # A daemon: what does not end in time dies with the process, and whoever acts next does it again.
        self._thread = threading.Thread(target=self._run, args=(stop,), name=self.name, daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Have it done now, or once more if it is being done. From any thread."""
        self._woken.set()

    def end(self) -> None:
        """Let it end soon, and wait for nothing. From any thread."""
        if self._thread is not None and not self._stop.is_set():
            self._stop.set()
            self._woken.set()
            self._interrupt()

    def join(self, seconds: float) -> None:
        """Wait until it has ended, or so long."""
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
        """Do it once; in how many seconds it is to be done again."""
        conditions, rest_s = self._conditions, self._interval_s
        try:
            with conditions.fenced():
                did_anything = self._work(stop)
            conditions.outage.over(self.name)
            if did_anything:
                return rest_s
        except LeaseLostError:  # the coordinator sees that too, and ends this
            pass
        except StoreUnavailableError as error:
            conditions.outage.note(error, self.name)
        except Exception as error:  # the outermost loop of this thread
            conditions.count_failure(self.name)
            problem = f"{type(error).__name__}: {error}"
            logger("coordinator").error("background work failed", work=self.name, error=problem)
            rest_s = None if rest_s is None else max(rest_s, RETRY_INTERVAL_S)
        self._close()
        return rest_s


def stop(works: Iterable[Background], seconds: float = STOP_TIMEOUT_S) -> None:
    """End all of them and wait, at most so long for all together."""
    ending = list(works)
    for work in ending:
        work.end()
    until = time.monotonic() + seconds
    for work in ending:
        work.join(max(0.0, until - time.monotonic()))
