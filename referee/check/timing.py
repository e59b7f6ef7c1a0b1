"""The speed of a bot: the shortest move time that it keeps, and by how much it exceeds its move times.

Nothing here talks to the bot: the caller passes a function that requests a move and returns the time of the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from protocol.capabilities import shorten_movetime
from referee.bot.seat import EARLY, UNKNOWN_MS

MOVE_TIMES_MS = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000)
"""The move times that are tried, fastest first, used as in games."""
_QUICK_MS, _QUICK_TRIES, _TRIES = 200, 7, 3
"""Move times up to `_QUICK_MS` get `_QUICK_TRIES` tries, which cost little, longer ones `_TRIES`. Both are odd, so that
there is a majority.
"""
_FAR = 4
"""After two answers that took this many times the move time, no more are requested at that move time."""

Ask = Callable[[int, float], float]
"""Asks for a move with this move time, waits for it at most the second time, and returns the milliseconds taken, or
NO_ANSWER. May raise anything.
"""
NO_ANSWER = math.inf
"""The time of a bot that failed because its move time was too short for it."""


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
    early: int = 0
    """Number of answers that came long before their time was up, which say nothing about lateness."""

    def add(self, told_ms: float, took_ms: float) -> None:
        """Add the overshoot of an answer, unless the answer came long before its time was up."""
        if took_ms >= EARLY * told_ms:
            self.late_ms.append(took_ms - told_ms)
        else:
            self.early += 1

    def clear(self) -> None:
        """Forget all answers, because another move time is tried."""
        self.late_ms.clear()
        self.early = 0

    def quantile(self, share: float) -> int:
        """Return the given quantile of the overshoot in whole milliseconds, at least 0.

        The slowest of several answers never counts, so that one slow answer has no effect, also of a bot that otherwise
        answers long before its time is up.
        """
        late_ms = sorted(self.late_ms)
        if len(late_ms) + self.early > 3:
            del late_ms[-1:]
        if not late_ms:
            return 0
        return max(0, math.ceil(late_ms[math.ceil(share * len(late_ms)) - 1]))

    @property
    def overshoot_ms(self) -> int:
        """The overshoot that the referee allows for: the 95th percentile."""
        return self.quantile(0.95)

    @property
    def first_overshoot_ms(self) -> int:
        """The overshoot of the first answer if it was clearly larger; otherwise 0."""
        first_ms = math.ceil(self.first_ms)
        return first_ms if first_ms > self.overshoot_ms + UNKNOWN_MS else 0


def find_timing(ask: Ask, move_times_ms: Sequence[int] = MOVE_TIMES_MS, margin_ms: float = 20) -> Timing:
    """Request moves at one move time after the other until most answers are in time; return the measured speed.

    As in games, the bot's overshoot so far is subtracted from the move time, down to half of it. The first answer, for
    which a bot may load and compile, is not judged. For an answer slower than the longest move time, `ask` raises: with
    the usual move times this bounds the whole measurement to a minute and a half.
    """
    timeout_ms = max(move_times_ms[-1], MOVE_TIMES_MS[-1]) + margin_ms
    timing, least_ms = Timing(), move_times_ms[0]
    first_ms = ask(move_times_ms[0], timeout_ms)
    timing.first_ms = 0.0 if first_ms == NO_ANSWER else first_ms - move_times_ms[0]
    for move_ms in move_times_ms:
        # Even the fastest answer so far was slower than this move time allows.
        if NO_ANSWER > timing.least_ms > move_ms + margin_ms:
            continue
        has_failed = timing.least_ms == NO_ANSWER
        timing.clear()
        if _is_kept(ask, move_ms, margin_ms, timeout_ms, timing):
            # Between the last move time, which was too short, and this one, the slowest answer shows what the bot
            # needs. A bot that failed gets only a move time that was seen to work.
            timing.fit_from_ms = move_ms if has_failed else min(move_ms, max(least_ms, pace_of(timing.most_ms)))
            break
        least_ms = move_ms
    if timing.fit_from_ms and timing.fit_from_ms < _QUICK_MS:  # measure its overshoot at a longer move time, too
        for _ in range(_QUICK_TRIES):
            timing.add(_QUICK_MS, ask(_QUICK_MS, timeout_ms))
    return timing


def pace_of(took_ms: float) -> int:
    """Return the move time for a bot that always takes this long: a tenth more, in steps of 50 ms."""
    return max(MOVE_TIMES_MS[0], 50 * math.ceil(took_ms * 1.1 / 50))


def _is_kept(ask: Ask, move_ms: int, margin_ms: float, timeout_ms: float, timing: Timing) -> bool:
    """Return whether most answers at a move time are in time.

    Request no more once too many are late; at move times above `_QUICK_MS` also once enough are in time.
    """
    tries = _QUICK_TRIES if move_ms <= _QUICK_MS else _TRIES
    kept = missed = far = 0
    timing.least_ms, timing.most_ms = math.inf, 0.0
    while kept + missed < tries and 2 * missed < tries and far < 2:
        told_ms = shorten_movetime(move_ms, max([0.0, *timing.late_ms]) if timing.late_ms else UNKNOWN_MS)
        took_ms = ask(told_ms, timeout_ms)
        if took_ms != NO_ANSWER:
            timing.add(told_ms, took_ms)
        timing.least_ms = min(timing.least_ms, took_ms)
        if took_ms <= move_ms + margin_ms:
            kept, timing.most_ms = kept + 1, max(timing.most_ms, took_ms)
        else:
            missed, far = missed + 1, far + (took_ms > _FAR * move_ms)
        if move_ms > _QUICK_MS and 2 * kept > tries:
            break
    return 2 * kept > tries
