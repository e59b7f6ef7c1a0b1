"""The seat of a person: no process and no protocol; decisions arrive from another thread through a `Hand`."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from protocol.capabilities import Capabilities
from protocol.messages import RefereeMessage, UgiResult
from protocol.options import OptionDecl
from referee.bot.seat import Overshoot, Thought
from referee.game.failure import BotError, Stopped
from referee.game.record import NetworkFigures
from referee.game.spec import BotLimits, BotSpec
from referee.rules.core import Termination


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision after `ply` plies: to play `move`, to accept a draw, or to resign.

    `offer` is "resign" or "draw": with a move, "draw" offers a draw; without a move, it accepts one. `left` is a
    sentence for the record if the person left the game.
    """

    ply: int
    move: str | None = None
    offer: str | None = None
    left: str = ""


class Hand:
    """Hands a person's decisions to the seat: `give` and `call_off` may be called from any thread.

    `is_offered` is True while the opponent's draw offer stands.
    """

    def __init__(self) -> None:
        self._decision: Decision | None = None
        self._is_off = False
        self.is_offered = False
        self._changed = threading.Condition()

    def give(self, decision: Decision) -> None:
        """Set the decision; it replaces an earlier one that the seat has not taken yet."""
        with self._changed:
            self._decision = decision
            self._changed.notify_all()

    def call_off(self) -> None:
        """Call the game off: a waiting `take` raises Stopped."""
        with self._changed:
            self._is_off = True
            self._changed.notify_all()

    def take(self, ply: int, seconds: float | None) -> Decision | None:
        """Wait for the decision at a ply and return it; None if there is none after `seconds`. Raises Stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_off or self._has(ply), seconds)
            if self._is_off:
                raise Stopped
            if not self._has(ply):
                return None
            decision, self._decision = self._decision, None
            self.is_offered = False
            return decision

    def _has(self, ply: int) -> bool:
        found = self._decision
        if found is None or found.offer == "resign":
            return found is not None
        # A decision for an earlier position must not be played here. Resigning does not depend on the position.
        return found.ply == ply and (found.move is not None or self.is_offered)


class PersonSeat:
    """A side that a person plays. Without a clock, a person who makes no decision for `idle_s` seconds resigns."""

    def __init__(self, spec: BotSpec, limits: BotLimits, hand: Hand, idle_s: float) -> None:
        self.spec, self.limits, self.side = spec, limits, 0
        self.capabilities = Capabilities.default()
        self.rule_options: frozenset[str] = frozenset()
        self.overshoot = Overshoot(0)
        self.has_answered = False
        self.anomaly_count, self.log = 0, ""
        self.options: Mapping[str, OptionDecl] = {}
        self.families: Collection[str] = ()
        self.network: NetworkFigures | None = None
        self._hand, self._idle_s = hand, idle_s

    def start(self) -> None:
        """Do nothing: a person needs no start."""

    def handshake(self) -> None:
        """Do nothing: there is nothing to negotiate."""

    def tell(self, message: RefereeMessage) -> None:
        """Do nothing: a person sees the board."""

    def begin_game(self) -> None:
        """Do nothing: a person's seat is opened for one game."""

    def new_game(self) -> None:
        """Do nothing: a person sees the board."""

    def ready(self) -> None:
        """Do nothing: a person is ready."""

    def hear_offer(self) -> None:
        """Let the person accept the opponent's draw offer instead of moving."""
        self._hand.is_offered = True

    def think(self, question: bytes, allowance_ms: float | None, known: Mapping[bytes, int] | None = None) -> Thought:
        """Wait for the person's decision. Raises Stopped, and BotError after the time limit or if the person left."""
        position = question.split(b"\n", 1)[0]
        ply = len(position.partition(b" moves ")[2].split())
        begin = time.monotonic()
        left_s = self._idle_s if allowance_ms is None else allowance_ms / 1000
        decision = self._hand.take(ply, left_s)
        ms = round((time.monotonic() - begin) * 1000, 3)
        if decision is None and allowance_ms is None:
            raise BotError(Termination.RESIGNED, f"no move for {self._idle_s / 60:g} minutes")
        if decision is None:
            raise BotError(Termination.TIME, "no move in time")
        if decision.left:
            raise BotError(Termination.RESIGNED, decision.left)
        return Thought(decision.move, decision.offer, ms, 0.0, None)

    def announce(self, result: UgiResult) -> None:
        """Do nothing: a person sees the board."""

    def condemn(self) -> None:
        """Do nothing: there is no process."""

    def close(self) -> None:
        """Do nothing: there is no process."""
