"""By how much a bot exceeds the move times it is told: expected at first, then learned from its answers.

The last answers count, and of those not the slowest but the next: one slow answer is not a property. The first answer
of a process, which may have to load and compile, is kept apart. Refuses to know clocks and what a bot is told.
"""

from __future__ import annotations

from collections import deque

UNKNOWN_MS = 5
"""What a bot is expected to exceed its time by of which nothing was measured."""
ANSWERS = 64
"""How many answers are remembered."""
ENOUGH = 8
"""With fewer the slowest counts, and what was expected before the first."""
EARLY = 0.75
"""An answer before that much of its time had gone by says nothing: a forced move, a win that was seen at once."""


class Overshoot:
    """How late one bot is, in milliseconds beyond the time it was told; negative when it answers before.

    `expected_ms` holds until there are answers, `first_ms` is what the first answer of a process took beyond its time.
    `usual_ms` is the middle of the last answers; see `at_worst_ms`.
    """

    __slots__ = ("_answers", "_expected_ms", "_first_ms", "_worst_ms", "usual_ms")

    def __init__(self, expected_ms: float, first_ms: float = 0.0) -> None:
        self._answers: deque[float] = deque(maxlen=ANSWERS)
        self._expected_ms = self._worst_ms = self.usual_ms = expected_ms
        self._first_ms = first_ms

    def at_worst_ms(self, *, is_first: bool) -> float:
        """More than it is going to be late by, in all likelihood; `is_first`: the process has not answered yet."""
        return max(self._worst_ms, self._first_ms) if is_first else self._worst_ms

    def add(self, told_ms: float, took_ms: float, *, is_first: bool = False) -> None:
        """An answer that took `took_ms` when it was told to take `told_ms`."""
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
