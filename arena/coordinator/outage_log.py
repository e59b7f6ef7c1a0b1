"""Logs the start and the end of each outage of the database, and a reminder every ten minutes while it lasts."""

from __future__ import annotations

import time
from collections.abc import Callable

from arena.cluster.spool import Backlog
from arena.log import logger

REMINDER_INTERVAL_S = 600.0
"""How often a lasting outage is logged."""


class OutageLog:
    """The outages that concurrent tasks report: each calls `note` after a failure and `over` after a success.

    The outage ends when every task that failed has succeeded. `backlog` returns the waiting results.
    """

    def __init__(self, backlog: Callable[[], Backlog], clock: Callable[[], float] = time.monotonic) -> None:
        self._backlog, self._clock = backlog, clock
        self._failed: set[str] = set()
        self._started_at = self._logged_at = 0.0
        self._log = logger("coordinator")

    def note(self, error: Exception, task: str) -> None:
        """Report a failure."""
        at = self._clock()
        if not self._failed:
            self._started_at = at
        if not self._failed or at - self._logged_at >= REMINDER_INTERVAL_S:
            self._logged_at = at
            self._log.warning("database unavailable", error=str(error), **self._waiting())
        self._failed.add(task)

    def over(self, task: str) -> None:
        """Report a success."""
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
