"""Time management of a bot: the limits of one `go`, the elapsed time, and the referee's `stop`."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, MutableSequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from protocol.messages import Go
from protocol.options import OptionDecl

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESERVE_MS = 150.0
"""Time that is never planned, because a busy machine may wake a bot this late."""
MIN_BUDGET_MS = 1.0
"""Time budget if nothing but the reserve is left."""
EOF_GRACE_MS = 5000.0
"""Time a search may continue after the end of the input, so that a script piped into a bot gets its answer."""

DEFAULT_MOVES_TO_GO, DEFAULT_INCREMENT_SHARE = 30.0, 0.5
"""Moves over which the time left is spread, and the share of an increment that is spent at once, unless a bot plans
otherwise (`Clock.plan`).
"""
LAG_ANSWERS = 32
"""Number of recent answers whose delay is remembered."""
NODES = OptionDecl("Nodes", "spin", "0", 0, 2**31 - 1)
"""Option for a maximum of nodes for each move, on top of the limits of the referee."""


class Lag:
    """Delays of recent answers beyond their planned time, caused by load on the machine."""

    def __init__(self) -> None:
        self._late_ms: deque[float] = deque(maxlen=LAG_ANSWERS)

    @property
    def ms(self) -> float:
        """The greatest recent delay, in milliseconds."""
        return max(self._late_ms, default=0.0)

    def add(self, late_ms: float) -> None:
        """Record the delay of an answer; a negative one counts as 0."""
        self._late_ms.append(max(0.0, late_ms))


class Clock:
    """Limits of one search; None = no limit of that kind. Times in milliseconds.

    `time_left_ms` and `increment_ms` are those of the bot's own side, `opponent_left_ms` that of the other. `started`
    is when `go` arrived (default: now), `lag_ms` the delay of recent answers.
    """

    def __init__(
        self,
        go: Go,
        side: int,
        *,
        now: Callable[[], float] = time.monotonic,
        started: float | None = None,
        lag_ms: float = 0.0,
    ) -> None:
        left = (go.p1time, go.p2time)
        added = (go.p1inc or 0, go.p2inc or 0)
        self.time_left_ms: int | None = left[side]
        self.opponent_left_ms: int | None = left[1 - side]
        self.increment_ms: int = added[side]
        self.movetime_ms: int | None = go.movetime
        self.depth: int | None = go.depth
        self.nodes: int | None = go.nodes
        self.infinite: bool = go.infinite
        self._now = now
        self._started = now() if started is None else started
        self._reserve_ms = RESERVE_MS + lag_ms
        self._moves_to_go, self._increment_share = DEFAULT_MOVES_TO_GO, DEFAULT_INCREMENT_SHARE
        self._stopped = threading.Event()
        self._listeners: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._set_deadline()

    def cap_nodes(self, most: int) -> None:
        """Lower the node limit to `most`; 0 changes nothing."""
        if most > 0:
            self.nodes = most if self.nodes is None else min(self.nodes, most)

    @property
    def is_timed(self) -> bool:
        """True if time limits the search. Then the speed of the machine may change the move."""
        return self.budget_ms() is not None

    def budget_ms(self) -> float | None:
        """Return the milliseconds to think about this move; None if only depth, nodes or `stop` end the search.

        With a clock, it is by default a thirtieth of the time left plus half of the increment, but at most half of the
        time left; a reserve is first subtracted from the time left. With a move time, it is that time minus the
        reserve, but at least half of that time.
        """
        if self.movetime_ms is not None:
            return max(self.movetime_ms - self._reserve_ms, self.movetime_ms / 2)
        if self.infinite or self.time_left_ms is None:
            return None
        usable = self.time_left_ms - self._reserve_ms
        return max(
            MIN_BUDGET_MS, min(usable / 2, usable / self._moves_to_go + self.increment_ms * self._increment_share)
        )

    def plan(self, moves: float, added: float) -> None:
        """Set the number of moves to spread the time over, and the share of the increment to use at once."""
        self._moves_to_go, self._increment_share = moves, added
        self._set_deadline()

    def _set_deadline(self) -> None:
        budget_ms = self.budget_ms()
        self._deadline = math.inf if budget_ms is None else self._started + budget_ms / 1000

    def elapsed_ms(self) -> float:
        """Return the time since `go` arrived."""
        return (self._now() - self._started) * 1000

    def overrun_ms(self) -> float:
        """Return the time since the search should have ended, negative before that."""
        return (self._now() - self._deadline) * 1000

    def remaining_ms(self) -> float:
        """Return the time until the search must end; 0 if it must end now, infinity without a time limit."""
        return 0.0 if self._stopped.is_set() else max(0.0, (self._deadline - self._now()) * 1000)

    def should_stop(self) -> bool:
        """Return whether to answer now: the budget is used up, or the referee sent `stop`. Cheap: call it often."""
        return self._stopped.is_set() or self._now() >= self._deadline

    def on_stop(self, listener: Callable[[], None]) -> None:
        """Call `listener` (from another thread) as soon as the referee sends `stop`; at once if it already has."""
        with self._lock:
            self._listeners.append(listener)
        # Read after the listener was added: a `stop` in the same moment calls it from here, from its own thread, or
        # from both.
        if self._stopped.is_set():
            listener()

    def stop(self) -> None:
        """End the search. Called from any thread."""
        self._stopped.set()
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener()

    @contextmanager
    def stops(self, numbers: MutableSequence[int] | NDArray[np.int64], place: int) -> Iterator[None]:
        """Set the stop flag `numbers[place]` of a compiled search to 1 when the search must end, while the context is
        open.

        Another thread sets it, so the search must run without the interpreter's lock.
        """

        def stop() -> None:
            numbers[place] = 1

        # Before the listener is added, which sets it at once if `stop` has come already.
        numbers[place] = 0
        self.on_stop(stop)
        left = self.remaining_ms()
        alarm = None if math.isinf(left) else threading.Timer(left / 1000, stop)
        if alarm is not None:
            # A bot that ends need not wait for its alarm.
            alarm.daemon = True
            alarm.start()
        try:
            yield
        finally:
            if alarm is not None:
                alarm.cancel()
            with self._lock:
                self._listeners.remove(stop)

    def wait(self) -> None:
        """Wait until the search must end: after `go infinite` a bot must not answer earlier."""
        left = self.remaining_ms()
        self._stopped.wait(None if math.isinf(left) else left / 1000)
