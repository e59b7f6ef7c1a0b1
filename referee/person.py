"""The seat of a person: no process, no protocol; what they decide comes through a hand from wherever they are.

Refuses to know the web, and how long people may rest: whoever opens the seat says so.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from protocol.capabilities import Capabilities
from protocol.messages import RefereeMessage, UgiResult
from protocol.options import OptionDecl
from referee.failure import BotError, Stopped
from referee.overshoot import Overshoot
from referee.rules.core import Termination
from referee.seat import Thought
from referee.spec import BotSpec, Limits


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person wants at the ply after so many: to play a `move`, perhaps offering a draw with it, to take the draw
    that is offered, or to resign.
    """

    ply: int
    move: str | None = None
    offer: str | None = None


class Hand:
    """Carries a person's decision to the seat: `give` and `call_off` may be called from any thread.

    `is_offered`: the opponent offers a draw with the move it plays, or has just played.
    """

    def __init__(self) -> None:
        self._decision: Decision | None = None
        self._is_off = False
        self.is_offered = False
        self._changed = threading.Condition()

    def give(self, decision: Decision) -> None:
        """The decision; one that was not taken yet is replaced."""
        with self._changed:
            self._decision = decision
            self._changed.notify_all()

    def call_off(self) -> None:
        """The game is called off: whoever waits raises Stopped."""
        with self._changed:
            self._is_off = True
            self._changed.notify_all()

    def take(self, ply: int, seconds: float | None) -> Decision | None:
        """The decision at a ply, waited for so long; None when there was none. Raises Stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_off or self._has(ply), seconds)
            if self._is_off:
                raise Stopped
            if not self._has(ply):
                return None
            found, self._decision = self._decision, None
            self.is_offered = False
            return found

    def _has(self, ply: int) -> bool:
        found = self._decision
        if found is None or found.offer == "resign":
            return found is not None
        return found.ply == ply and (found.move is not None or self.is_offered)


class PersonSeat:
    """A side that a person plays. Without a clock it waits for `idle_s` seconds at most: then the game is abandoned."""

    def __init__(self, spec: BotSpec, limits: Limits, hand: Hand, idle_s: float) -> None:
        self.spec, self.limits = spec, limits
        self.capabilities = Capabilities.default()
        self.told: frozenset[str] = frozenset()
        self.overshoot = Overshoot(0)
        self.has_answered = False
        self.anomaly_count, self.log = 0, ""
        self.options: Mapping[str, OptionDecl] = {}
        self.families: Collection[str] = ()
        self.network: Mapping[str, float] = {}
        self._hand, self._idle_s = hand, idle_s

    def start(self) -> None:
        """People are there."""

    def handshake(self) -> None:
        """Nor is there anything to agree on."""

    def tell(self, message: RefereeMessage) -> None:
        """They see it on the board."""

    def new_game(self) -> None:
        """They know."""

    def ready(self) -> None:
        """Their clock does not wait for more."""

    def hear_offer(self) -> None:
        """They may take it instead of moving."""
        self._hand.is_offered = True

    def begin_turn(self, *_: int) -> None:
        """They see it on the board."""

    def think(self, question: bytes, allowance_ms: float | None, known: Mapping[bytes, int] | None = None) -> Thought:
        """Their decision. Raises BotError when the time is over, Stopped."""
        position = question.split(b"\n", 1)[0]
        ply = len(position.partition(b" moves ")[2].split())
        begin = time.monotonic()
        left_s = self._idle_s if allowance_ms is None else allowance_ms / 1000
        decision = self._hand.take(ply, left_s)
        ms = (time.monotonic() - begin) * 1000
        if decision is None:
            words = f"no move for {self._idle_s / 60:g} minutes" if allowance_ms is None else "no move in time"
            raise BotError(Termination.TIME, words)
        return Thought(decision.move, decision.offer, ms, 0.0, None)

    def end_turn(self, took_ms: float) -> None:
        """They see it on the board."""

    def announce(self, result: UgiResult) -> None:
        """They see it on the board."""

    def condemn(self) -> None:
        """There is nothing to end."""

    def close(self) -> None:
        """Nor here."""
