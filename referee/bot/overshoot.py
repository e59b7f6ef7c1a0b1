"""The time by which a bot exceeds its move times: an expected value at first, then learned from its answers.

The slowest of the latest answers is ignored, so that one slow answer has no effect. The first answer of a process,
which may have to load and compile, is measured separately.
"""

from __future__ import annotations

from collections import deque

UNKNOWN_MS = 5
"""The estimate for a bot without measurements."""
ANSWERS = 64
"""Number of answers that are remembered."""
ENOUGH = 8
"""With fewer answers the slowest counts, or the estimate if that is greater."""
EARLY = 0.75
"""An answer before this share of its time is ignored: a forced move, or a win found at once."""


class Overshoot:
    """The time in milliseconds by which a bot exceeds its move times; 0 if it answers early.

    `usual_ms` is the median overshoot of the latest answers; with fewer than ENOUGH answers, the largest overshoot, but
    at least `expected_ms`. `first_ms` is the overshoot expected of the first answer of a process.
    """

    __slots__ = ("_answers", "_expected_ms", "_first_ms", "_worst_ms", "usual_ms")

    def __init__(self, expected_ms: float, first_ms: float = 0.0) -> None:
        self._answers: deque[float] = deque(maxlen=ANSWERS)
        self._expected_ms = self._worst_ms = self.usual_ms = expected_ms
        self._first_ms = first_ms

    def at_worst_ms(self, *, is_first: bool) -> float:
        """Return a bound that the next overshoot seldom exceeds; `is_first`: that of the first answer of a process."""
        return max(self._worst_ms, self._first_ms) if is_first else self._worst_ms

    def add(self, told_ms: float, took_ms: float, *, is_first: bool = False) -> None:
        """Add an answer that took `took_ms` when the bot was sent the move time `told_ms`."""
        if took_ms < EARLY * told_ms:
            return
        late_ms = took_ms - told_ms
        if is_first:
            self._first_ms = max(self._first_ms, late_ms)
            return
        self._answers.append(late_ms)
        if len(self._answers) < ENOUGH:
            self.usual_ms = self._worst_ms = max(self._expected_ms, *self._answers)
            return
        ranked = sorted(self._answers)
        middle, high = ranked[len(ranked) // 2], ranked[-2]
        self.usual_ms, self._worst_ms = max(0.0, middle), max(0.0, high + (high - middle) / 2)
