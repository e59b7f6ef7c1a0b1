"""The time of a turn: when it is up, and which part of it is the machine's and not charged to the bot."""

from __future__ import annotations

from referee.bot.process import MAX_TURN_NS, POLL_INTERVAL_NS, QueueMeter
from referee.bot.wire import Wire


class Turn:
    """The time of a turn since `start_ns` on the monotonic clock, and the part of it that is not charged to the bot."""

    __slots__ = ("_allowance_ns", "_queue", "_waited_ns", "_wire", "start_ns")

    def __init__(self, wire: Wire, queue: QueueMeter, start_ns: int, allowance_ns: int) -> None:
        self.start_ns = start_ns
        self._wire, self._queue, self._allowance_ns, self._waited_ns = wire, queue, allowance_ns, 0

    @property
    def deadline_ns(self) -> int:
        """The moment at which the bot's time is up, extended by the delays measured so far."""
        return self.start_ns + self._allowance_ns + self._wire.held_ns + self._waited_ns

    def is_up(self, at_ns: int) -> bool:
        """Read the bot's run-queue delay; return whether the bot's time was up at the moment `at_ns`."""
        if at_ns <= self.deadline_ns:
            return False
        self._waited_ns = self._queue.waited_ns(at_ns - self.start_ns - self._wire.held_ns)
        over_ns = at_ns - self.deadline_ns
        if over_ns <= 0:
            return False
        if self._waited_ns + over_ns > MAX_TURN_NS or not self._queue.is_in_line():
            return True
        self._waited_ns += over_ns + POLL_INTERVAL_NS  # until the next poll
        return False

    def end(self, elapsed_ns: int) -> int:
        """End the turn and return the part of its time that is not charged to the bot."""
        lag = min(self._wire.lag_ns + self._wire.held_ns, elapsed_ns)
        waited = self._queue.waited_ns(elapsed_ns - lag)
        self._queue.end(waited)
        return lag + waited
