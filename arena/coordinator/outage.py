"""Says once that the database is away, now and then that it still is, and once that it is back."""

from __future__ import annotations

import time
from collections.abc import Callable

from arena.log import logger

AGAIN_S = 600.0
"""How often an outage is mentioned while it lasts."""


class Outage:
    """`note` every failure, call `over` after every success. `waiting` counts the results that wait."""

    def __init__(self, waiting: Callable[[], int], clock: Callable[[], float] = time.monotonic) -> None:
        self._waiting, self._clock = waiting, clock
        self._began: float | None = None
        self._told = 0.0
        self._log = logger("coordinator")

    def note(self, error: Exception) -> None:
        """The database could not be used."""
        at = self._clock()
        if self._began is None:
            self._began = at
        elif at - self._told < AGAIN_S:
            return
        self._told = at
        self._log.warning("database unavailable", error=str(error), results_waiting=self._waiting())

    def over(self) -> None:
        """The database was used."""
        if self._began is not None:
            self._log.info("database back", after_s=round(self._clock() - self._began, 1))
            self._began = None
