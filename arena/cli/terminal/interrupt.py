"""Reaction to SIGINT and SIGTERM: the first signal stops a command cleanly, the next one at once.

`heard` is for an event loop, `InterruptThread` for code without one.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from arena.cli.terminal import output

if TYPE_CHECKING:
    import asyncio

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
T = TypeVar("T")


@dataclass(slots=True)
class Interrupts:
    """The reaction to signals: the first sets `stop`, further ones call `again` unless it is None."""

    stop: asyncio.Event
    again: Callable[[], None] | None = None

    def hear(self) -> None:
        """Handle one signal."""
        if not self.stop.is_set():
            if self.again is not None:
                output.note("finishing the running games; once more calls them off")
            self.stop.set()
        elif self.again is not None:
            output.note("calling off what is running")
            self.again()


@contextlib.contextmanager
def heard(stop: asyncio.Event, again: Callable[[], None] | None = None) -> Iterator[Interrupts]:
    """Handle SIGINT and SIGTERM in the running event loop during a `with` block."""
    import asyncio  # those who have no event loop start without it

    interrupts = Interrupts(stop, again)
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, interrupts.hear)
    try:
        yield interrupts
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


class InterruptThread:
    """A thread for Ctrl-C during a `with` block: the first one calls `stop`, further ones `again`.

    A signal may interrupt the main thread anywhere, even while it prints or holds a lock. So the handler only queues
    the signal, and the thread calls the function.
    """

    def __init__(self, stop: Callable[[], None], again: Callable[[], None]) -> None:
        self._stop, self._again = stop, again
        self._heard: SimpleQueue[bool] = SimpleQueue()
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._before: Any = None

    def _answer(self) -> None:
        if self._heard.get():
            output.note("finishing the running games; Ctrl-C again calls them off")
            self._stop()
            while self._heard.get():
                self._again()

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._thread.start()
            self._before = signal.signal(signal.SIGINT, lambda *_: self._heard.put(True))

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._heard.put(False)
            self._thread.join()


def interruptible(function: Callable[..., T], *arguments: Any) -> T:
    """Return `function(*arguments)`, computed in a thread of its own so that Ctrl-C ends it at once.

    A kernel runs without the interpreter lock but never checks for signals: in the main thread it would delay Ctrl-C
    until it has finished. Raises what the function raises, and KeyboardInterrupt.
    """
    done: list[T] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            done.append(function(*arguments))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


__all__ = ["InterruptThread", "Interrupts", "heard", "interruptible"]
