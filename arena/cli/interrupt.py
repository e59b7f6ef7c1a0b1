"""SIGINT and SIGTERM for what runs until it is told to stop: the first stops it in good order, the next at once.

Refuses to know what runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from arena.cli import output

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class Interrupts:
    """What the signals do: the first sets `stop`, further ones call `again`, if there is anything to call off."""

    stop: asyncio.Event
    again: Callable[[], None] | None = None

    def hear(self) -> None:
        """One signal."""
        if not self.stop.is_set():
            if self.again is not None:
                output.note("finishing the running games; once more calls them off")
            self.stop.set()
        elif self.again is not None:
            output.note("calling off what is running")
            self.again()


@contextlib.contextmanager
def heard(stop: asyncio.Event, again: Callable[[], None] | None = None) -> Iterator[Interrupts]:
    """Have the running loop hear the signals for the length of a `with`."""
    interrupts = Interrupts(stop, again)
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, interrupts.hear)
    try:
        yield interrupts
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


__all__ = ["Interrupts", "heard"]
