"""One side of a game as the loop sees it: what plays there may be a process of this slot, or be somewhere else.

`referee.bot.Bot` is the seat of a process. A seat fails in one way only: with a `BotError` that says how the game ends.
Refuses to know what is behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from protocol.capabilities import Capabilities
from protocol.messages import Info, RefereeMessage, UgiResult
from protocol.options import OptionDecl
from referee.overshoot import Overshoot
from referee.spec import BotSpec, Limits


@dataclass(slots=True)
class Thought:
    """The answer to one `go`. Times in milliseconds. `code`: of a move that needed no reading. `lines`: what it told of
    its thoughts last, unread.
    """

    move: str | None
    offer: str | None
    ms: float
    lag_ms: float
    info: Info | None
    code: int | None = None
    lines: Sequence[bytes] = ()


class Seat(Protocol):
    """What a game asks of whoever plays a side of it, in this order. All of it may raise BotError and Stopped.

    `told`: the options that the rules of the last game made it set. `has_answered`: whether it was asked for a move by
    a move time before; `overshoot`: how late it is then.
    """

    spec: BotSpec
    limits: Limits
    capabilities: Capabilities
    told: frozenset[str]
    overshoot: Overshoot
    has_answered: bool

    def start(self) -> None:
        """Begin, where it has not begun. Raises SandboxError too."""

    def handshake(self) -> None:
        """Hear who it is, where that has not been heard: `options`, `families` and `capabilities` are known then."""

    @property
    def options(self) -> Mapping[str, OptionDecl]:
        """The options it has announced, by name."""

    @property
    def families(self) -> Collection[str]:
        """The families it has announced."""

    def tell(self, message: RefereeMessage) -> None:
        """Send what has no answer."""

    def new_game(self) -> None:
        """Say that a new game begins, and that it is to get ready."""

    def ready(self) -> None:
        """Wait until it is ready for it."""

    def hear_offer(self) -> None:
        """Its opponent offers a draw with the move that is about to be played."""

    def begin_turn(self, side: int) -> None:
        """It is to move, as the first (0) or second side: called before `think`."""

    def think(self, question: bytes, allowance_ms: float | None, known: Mapping[bytes, int] = ...) -> Thought:
        """The answer to `position … go …`, waited for so long; see `referee.bot.Bot.think`."""

    def end_turn(self, took_ms: float) -> None:
        """Its move has come and took so long."""

    def announce(self, result: UgiResult) -> None:
        """Say how the game ended, if it wants to know; failures no longer matter."""

    @property
    def anomaly_count(self) -> int:
        """How much it said that the protocol does not allow and that did not prevent play."""

    @property
    def log(self) -> str:
        """The tail of what it wrote to its author."""

    @property
    def network(self) -> Mapping[str, float]:
        """What the record says of the network between it and the game (see `referee.remote`); nothing without one."""

    def condemn(self) -> None:
        """It failed, or the game was called off: it plays no other one, and is not asked to leave."""

    def close(self) -> None:
        """Take leave; nothing of it is left afterwards. Raises nothing."""
