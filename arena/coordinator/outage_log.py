"""Says once that the database is away, now and then that it still is, and once that it is back."""

from __future__ import annotations

import time
from collections.abc import Callable

from arena.log import logger

REMINDER_INTERVAL_S = 600.0
"""How often an outage is mentioned while it lasts."""


class OutageLog:
    """`note` every failure, call `over` after every success, of whatever `task` works on the database beside others:
    it is back when all of them could use it. `waiting` counts the results that wait."""

    def __init__(self, waiting: Callable[[], int], clock: Callable[[], float] = time.monotonic) -> None:
        self._waiting, self._clock = waiting, clock
        self._failed: set[str] = set()
        self._began = self._told = 0.0
        self._log = logger("coordinator")

    def note(self, error: Exception, task: str) -> None:
        """The database could not be used."""
        at = self._clock()
        if not self._failed:
            self._began = at
        if not self._failed or at - self._told >= REMINDER_INTERVAL_S:
            self._told = at
            self._log.warning("database unavailable", error=str(error), results_waiting=self._waiting())
        self._failed.add(task)

    def over(self, task: str) -> None:
        """The database was used."""
        if task in self._failed:
            self._failed.discard(task)
            if not self._failed:
                self._log.info("database back", after_s=round(self._clock() - self._began, 1))
