"""One bot at the board: what it has been told of the game, and what it is asked when it is its turn."""

from __future__ import annotations

from protocol.capabilities import movetime_for
from referee.bot import Bot
from referee.clock import Clock
from referee.course import Course
from referee.negotiate import prepare


class Player:
    """A bot that is ready for the game. Raises BotError when it cannot play by its rules, or fails getting ready.

    `passes_phase`: the referee passes for it in the phase before play, and it sees the position after that.
    """

    __slots__ = ("_question", "_separator", "bot", "passes_phase")

    def __init__(self, bot: Bot, course: Course) -> None:
        plan = prepare(bot, course.ruleset, is_shown=course.spec.position is not None)
        self.bot = bot
        self.passes_phase = plan.passes_phase
        self._question = bytearray(b"position startpos")
        """`position … moves …` up to the present ply."""
        self._separator = b" moves "
        if not plan.use_startpos or course.spec.position not in (None, course.ruleset.variant.position):
            self._restart(course.start)
        self._see_opening(course)

    def _restart(self, position: str) -> None:
        self._question = bytearray(b"position fen " + position.encode())
        self._separator = b" moves "

    def _see_opening(self, course: Course) -> None:
        if self.passes_phase and course.starts_in_phase:
            if not course.is_in_phase:
                self._restart(course.position)
        elif course.moves:
            self._question += b" moves " + " ".join(course.moves).encode()
            self._separator = b" "

    def follow(self, course: Course) -> None:
        """Take in the ply just played; a bot that does not know the phase gets the position after it instead."""
        if self.passes_phase:
            if course.was_in_phase and not course.is_in_phase:
                self._restart(course.position)
                return
            if course.is_in_phase:
                return
        self._question += self._separator + course.moves[-1].encode()
        self._separator = b" "

    def question(self, clock: Clock, side: int) -> bytes:
        """`position … go …` with what is left on the clock, or with a move time for a bot that knows no clocks."""
        kind, bot = clock.control.kind, self.bot
        if kind == "clock" and not bot.capabilities.clocks:
            left_ms = int(clock.left_ms[side])
            overshoot_ms = max(bot.limits.overshoot_ms, bot.capabilities.overshoot_ms)
            overhead_ms = min(overshoot_ms, left_ms // 10)
            limit = movetime_for(left_ms, clock.control.increment_ms, overhead_ms)
            words = b"movetime %d" % limit
        elif kind == "movetime" and bot.capabilities.overshoot_ms:
            words = b"movetime %d" % max(1, clock.control.base_ms - bot.capabilities.overshoot_ms)
        else:
            words = clock.words()
        return b"%b\ngo %b\n" % (bytes(self._question), words)
