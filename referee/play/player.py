"""A bot in one game: the line `position` and the arguments of `go` that it is sent, and its answers."""

from __future__ import annotations

from collections.abc import Mapping

from protocol.capabilities import movetime_for, shares_of_game, shorten_movetime
from referee.bot.seat import Seat, Thought
from referee.game.clock import GameClock
from referee.game.failure import BotError
from referee.game.history import GameHistory
from referee.play.negotiation import prepare
from referee.rules.core import Termination


class Player:
    """A bot in one game; `Player()` sends it the options. Raises BotError if it cannot play by the rules, or fails.

    `passes_phase`: the referee passes for the bot in the phase before regular play, and sends it the position after the
    phase.
    """

    __slots__ = ("_question", "_separator", "_shares", "bot", "passes_phase")

    def __init__(self, bot: Seat, history: GameHistory) -> None:
        plan = prepare(bot, history.ruleset, is_shown=history.spec.position is not None)
        self.bot = bot
        self.passes_phase = plan.passes_phase
        self._shares = shares_of_game(history.ruleset.rules.game_moves)
        self._question = bytearray(b"position startpos")
        """`position … moves …` up to the present ply."""
        self._separator = b" moves "
        if not plan.use_startpos or history.spec.position not in (None, history.ruleset.variant.position):
            self._restart(history.start)
        self._see_opening(history)

    def _restart(self, position: str) -> None:
        self._question = bytearray(b"position fen " + position.encode())
        self._separator = b" moves "

    def _see_opening(self, history: GameHistory) -> None:
        if self.passes_phase and history.starts_in_phase:
            if not history.is_in_phase:
                self._restart(history.position)
        elif history.moves:
            self._question += b" moves " + " ".join(history.moves).encode()
            self._separator = b" "

    def follow(self, history: GameHistory) -> None:
        """Append the ply just played to the line `position`, or start that line again after a phase that was passed."""
        if self.passes_phase:
            if history.was_in_phase and not history.is_in_phase:
                self._restart(history.position)
                return
            if history.is_in_phase:
                return
        self._question += self._separator + history.moves[-1].encode()
        self._separator = b" "

    @property
    def position(self) -> bytes:
        """The line `position …` of the present ply."""
        return bytes(self._question)

    def ask(self, clock: GameClock, side: int, known: Mapping[bytes, int]) -> Thought:
        """Return the answer to `position … go …`; lift the limits on pondering meanwhile. Raises as `Seat.think`."""
        bot = self.bot
        bot.begin_turn(side)
        words, allowance_ms = self._words(clock, side), clock.allowance_ms(side)
        question = b"".join((self._question, b"\ngo ", words, b"\n"))
        if words.startswith(b"movetime"):
            thought = self._ask_in_time(int(words[9:]), question, allowance_ms, known)
        else:
            thought = bot.think(question, allowance_ms, known)
        bot.end_turn(thought.ms)
        return thought

    def _ask_in_time(
        self, told_ms: int, question: bytes, allowance_ms: float | None, known: Mapping[bytes, int]
    ) -> Thought:
        """Return the answer to `go movetime`, and record how late the bot was."""
        bot, is_first = self.bot, not self.bot.has_answered
        bot.has_answered = True
        try:
            thought = bot.think(question, allowance_ms, known)
        except BotError as error:
            if error.termination is Termination.TIME and allowance_ms is not None:
                bot.overshoot.add(told_ms, allowance_ms, is_first=is_first)
            raise
        bot.overshoot.add(told_ms, thought.ms - thought.lag_ms, is_first=is_first)
        return thought

    def _words(self, clock: GameClock, side: int) -> bytes:
        """Return the arguments of `go`: the clocks, or a move time reduced by the bot's usual lateness."""
        control, bot = clock.controls[side], self.bot
        if control.kind == "movetime":
            return b"movetime %d" % shorten_movetime(
                control.base_ms, bot.overshoot.at_worst_ms(is_first=not bot.has_answered)
            )
        if bot.capabilities.clocks or control.kind != "clock":
            return clock.words(side)
        late = bot.overshoot
        left_ms = int(clock.left_ms[side])
        worst_ms = late.at_worst_ms(is_first=not bot.has_answered)
        to_go = clock.moves_to_go(side)
        return b"movetime %d" % movetime_for(
            left_ms, control.increment_ms, late.usual_ms, worst_ms, to_go, shares=self._shares
        )
