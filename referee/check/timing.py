"""A bot's speed: the shortest move time it keeps, and by how much it exceeds its move times.

Nothing here talks to the bot: the caller passes a function that requests a move and returns the time of the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from protocol.capabilities import shorten_movetime
from referee.bot.overshoot import EARLY, UNKNOWN_MS

MOVE_TIMES_MS = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000)
"""The move times that are tried, fastest first, used as in games."""
_QUICK_MS, _QUICK_TRIES, _TRIES = 200, 7, 3
"""Move times up to `_QUICK_MS` get `_QUICK_TRIES` tries, longer ones `_TRIES`."""
_FAR = 4
"""After two answers that took this many times the move time, no more are requested at that move time."""

Ask = Callable[[int, float], float]
"""Asks for a move with this move time, waits for it at most the second time, and returns the milliseconds taken. May
raise anything.
"""


@dataclass(slots=True)
class Timing:
    """The measured speed of a bot.

    `fit_from_ms` is the shortest move time that the bot kept; None if it kept none. `least_ms` is the time of the
    fastest answer at the last move time tried, `most_ms` that of the slowest one in time. `late_ms` are the times by
    which answers exceeded their move times, `first_ms` that of the very first answer.
    """

    fit_from_ms: int | None = None
    least_ms: float = 0.0
    most_ms: float = 0.0
    first_ms: float = 0.0
    late_ms: list[float] = field(default_factory=list)

    def add(self, told_ms: float, took_ms: float) -> None:
        """Add the overshoot of an answer, unless the answer came long before its time was up."""
        if took_ms >= EARLY * told_ms:
            self.late_ms.append(took_ms - told_ms)

    def quantile(self, share: float) -> int:
        """Return the given quantile of the overshoot in whole milliseconds, at least 0.

        The slowest of several answers never counts, so that one slow answer has no effect.
        """
        count = len(self.late_ms)
        if not count:
            return 0
        place = math.ceil(share * count) - 1
        return max(0, math.ceil(sorted(self.late_ms)[min(place, count - 2) if count > 3 else place]))

    @property
    def overshoot_ms(self) -> int:
        """The overshoot that the referee allows for: the 95th percentile."""
        return self.quantile(0.95)

    @property
    def first_overshoot_ms(self) -> int:
        """The overshoot of the first answer if it was clearly larger; otherwise 0."""
        first_ms = math.ceil(self.first_ms)
        return first_ms if first_ms > self.overshoot_ms + UNKNOWN_MS else 0


def find(ask: Ask, move_times_ms: Sequence[int] = MOVE_TIMES_MS, margin_ms: float = 20) -> Timing:
    """Request moves at one move time after the other until most answers are in time; return the measured speed.

    As in games, the bot's overshoot so far is subtracted from the move time, down to half of it. The first answer, for
    which a bot may load and compile, is not judged. For an answer slower than the longest move time, `ask` raises: with
    the usual move times this bounds the whole measurement to a minute and a half.
    """
    timeout_ms = max(move_times_ms[-1], MOVE_TIMES_MS[-1]) + margin_ms
    found, least_ms = Timing(), move_times_ms[0]
    found.first_ms = ask(move_times_ms[0], timeout_ms) - move_times_ms[0]
    for move_ms in move_times_ms:
        if found.least_ms > move_ms + margin_ms:
            continue
        found.late_ms.clear()
        if _is_kept(ask, move_ms, margin_ms, timeout_ms, found):
            found.fit_from_ms = min(move_ms, max(least_ms, pace_of(found.most_ms)))
            break
        least_ms = move_ms
    if found.fit_from_ms and found.fit_from_ms < _QUICK_MS:  # measure its overshoot at a longer move time, too
        for _ in range(_QUICK_TRIES):
            found.add(_QUICK_MS, ask(_QUICK_MS, timeout_ms))
    return found


def pace_of(took_ms: float) -> int:
    """Return the move time for a bot that always takes this long: a tenth more, in steps of 50 ms."""
    return max(MOVE_TIMES_MS[0], 50 * math.ceil(took_ms * 1.1 / 50))


def _is_kept(ask: Ask, move_ms: int, margin_ms: float, timeout_ms: float, found: Timing) -> bool:
    """Return whether most answers at a move time are in time.

    Request no more once too many are late; at move times above `_QUICK_MS` also once enough are in time.
    """
    tries = _QUICK_TRIES if move_ms <= _QUICK_MS else _TRIES
    kept = missed = far = 0
    found.least_ms, found.most_ms = math.inf, 0.0
    while kept + missed < tries and 2 * missed < tries and far < 2:
        told_ms = shorten_movetime(move_ms, max([0.0, *found.late_ms]) if found.late_ms else UNKNOWN_MS)
        took_ms = ask(told_ms, timeout_ms)
        found.add(told_ms, took_ms)
        found.least_ms = min(found.least_ms, took_ms)
        if took_ms <= move_ms + margin_ms:
            kept, found.most_ms = kept + 1, max(found.most_ms, took_ms)
        else:
            missed, far = missed + 1, far + (took_ms > _FAR * move_ms)
        if move_ms > _QUICK_MS and 2 * kept > tries:
            break
    return 2 * kept > tries
