"""The progress of a run of many games in one line, with the time left."""

from __future__ import annotations

import time
from collections.abc import Callable


class RunProgress:
    """The pace of a run since this object was made with `done` of `total` games finished. `clock` returns seconds."""

    def __init__(self, done: int, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._before, self._total, self._clock = done, total, clock
        self._begin = clock()

    def line(self, done: int, *, may_end_early: bool = False) -> str:
        """Format the progress: `12/400 games, 35 a minute, 11 min left`; before the first game only the count."""
        found = f"{done:,}/{self._total:,} games"
        played, seconds = done - self._before, self._clock() - self._begin
        if played <= 0 or seconds <= 0:
            return found
        per_minute = 60 * played / seconds
        pace = f"{per_minute:,.0f}" if per_minute >= 10 else f"{per_minute:.1f}"
        left = in_words(seconds * (self._total - done) / played)
        return f"{found}, {pace} a minute, {'at most ' if may_end_early else ''}{left} left"


def in_words(seconds: float) -> str:
    """Format a duration in its two largest units at most: `40 s`, `11 min`, `2 h 5 min`, `3 d 4 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    days, hours = divmod(hours, 24)
    return f"{days:,} d {hours} h"
