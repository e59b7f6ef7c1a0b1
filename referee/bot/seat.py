"""The interface of a player as the game loop sees it: a process of this slot, a remote bot, or a person.

A seat fails in one way only, with a `BotError` that says how the game ends.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from protocol.capabilities import Capabilities
from protocol.messages import Info, RefereeMessage, UgiResult
from protocol.options import OptionDecl
from referee.bot.overshoot import Overshoot
from referee.game.spec import BotLimits, BotSpec


@dataclass(slots=True)
class Thought:
    """The answer to one `go`. Times in milliseconds. `code` is the move if it needed no parsing; `lines` are the last
    lines of search information, not parsed.
    """

    move: str | None
    offer: str | None
    ms: float
    lag_ms: float
    info: Info | None
    code: int | None = None
    lines: Sequence[bytes] = ()


class Seat(Protocol):
    """A player of one side; the loop calls these methods in this order. All of them may raise BotError and Stopped.

    `rule_options` are the options it was sent for the rules of its last game. `has_answered` is True once it has
    answered a move time, `overshoot` its lateness then.
    """

    spec: BotSpec
    limits: BotLimits
    capabilities: Capabilities
    rule_options: frozenset[str]
    overshoot: Overshoot
    has_answered: bool

    def start(self) -> None:
        """Start the player unless it is running. Raises SandboxError too."""

    def handshake(self) -> None:
        """Shake hands unless that is done: afterwards `options`, `families` and `capabilities` are known."""

    @property
    def options(self) -> Mapping[str, OptionDecl]:
        """The options it has announced, by name."""

    @property
    def families(self) -> Collection[str]:
        """The families it has announced."""

    def tell(self, message: RefereeMessage) -> None:
        """Send a message that has no answer."""

    def new_game(self) -> None:
        """Announce a new game, so that the player gets ready."""

    def ready(self) -> None:
        """Wait until it is ready."""

    def hear_offer(self) -> None:
        """Pass on a draw offer that the opponent makes with the move about to be played."""

    def begin_turn(self, side: int) -> None:
        """Start the player's turn as the first (0) or second (1) side; called before `think`."""

    def think(self, question: bytes, allowance_ms: float | None, known: Mapping[bytes, int] = ...) -> Thought:
        """Return the answer to `position … go …` within the allowance; see `referee.bot.bot.LocalBot.think`."""

    def end_turn(self, took_ms: float) -> None:
        """End the player's turn; called after `think`."""

    def announce(self, result: UgiResult) -> None:
        """Send the result of the game if the player wants it; errors are ignored."""

    @property
    def anomaly_count(self) -> int:
        """Lines that broke the protocol without preventing play."""

    @property
    def log(self) -> str:
        """The tail of its standard error, which its author may read."""

    @property
    def network(self) -> Mapping[str, float]:
        """Figures of the network for the record (see `referee.bot.remote`); empty for a local bot."""

    def condemn(self) -> None:
        """Mark it as unusable for another game, after a failure or a cancelled game; no `quit` is sent."""

    def close(self) -> None:
        """End the player and release all its resources. Never raises."""
