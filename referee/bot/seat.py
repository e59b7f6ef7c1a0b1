"""The interface of a player as the game loop sees it: a process of this game slot, a remote bot, or a person.

A seat fails in one way only, with a `BotError` that says how the game ends. The time by which a bot exceeds its move
times is an expected value at first, then learned from its answers. The slowest of the latest answers is ignored, so
that one slow answer has no effect. The first answer of a process, which may have to load and compile, is measured
separately.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from protocol.capabilities import Capabilities
from protocol.messages import Info, RefereeMessage, UgiResult
from protocol.options import OptionDecl
from referee.game.record import NetworkFigures
from referee.game.spec import BotLimits, BotSpec

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

    @classmethod
    def expected(cls, spec: BotSpec) -> Self:
        """Return the expected overshoot of a bot that has not answered yet: as a check found it, else the default."""
        known = Capabilities.from_json(spec.capabilities)
        return cls(known.overshoot_ms or UNKNOWN_MS, known.first_overshoot_ms)

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


LAST_LINES = 256
"""Lines of search information that are kept of a turn: more than the depths a bot reaches, with several lines each."""


@dataclass(slots=True)
class Thought:
    """The answer to one `go`. Times in milliseconds with three decimals.

    If the move's text is a key of the mapping `known` that was passed to `think`, `code` is its value and `move` is
    None. `lines` are the last lines of search information, not parsed.
    """

    move: str | None
    offer: str | None
    ms: float
    lag_ms: float
    info: Info | None
    code: int | None = None
    lines: Sequence[bytes] = ()


class Seat(Protocol):
    """A player of one side; the game loop calls these methods in this order. Most may raise BotError and Stopped.

    `rule_options` are the options that the player was sent for the rules of its last game. `has_answered` is True once
    it has answered a `go movetime`; `overshoot` is its lateness in such answers. `side` is 0 while it plays the first
    side, 1 for the second.
    """

    spec: BotSpec
    side: int
    limits: BotLimits
    capabilities: Capabilities
    rule_options: frozenset[str]
    overshoot: Overshoot
    has_answered: bool

    def start(self) -> None:
        """Start the player unless it is running. Also raises SandboxError."""

    def handshake(self) -> None:
        """Shake hands if not done yet; afterwards `options`, `families` and `capabilities` are known."""

    @property
    def options(self) -> Mapping[str, OptionDecl]:
        """The options that the player has announced, by name."""

    @property
    def families(self) -> Collection[str]:
        """The families that the player has announced."""

    def tell(self, message: RefereeMessage) -> None:
        """Send a message that has no answer."""

    def begin_game(self) -> None:
        """Forget what belongs to the game before; called before a game and before its options are sent."""

    def new_game(self) -> None:
        """Announce a new game, so that the player gets ready."""

    def ready(self) -> None:
        """Wait until the player is ready."""

    def hear_offer(self) -> None:
        """Pass on a draw offer that the opponent makes with the move about to be played."""

    def think(self, question: bytes, allowance_ms: float | None, known: Mapping[bytes, int] = ...) -> Thought:
        """Return the answer to `position … go …` within `allowance_ms`; see `referee.bot.bot.LocalBot.think`."""

    def announce(self, result: UgiResult) -> None:
        """Send the result of the game if the player wants it; errors are ignored."""

    @property
    def anomaly_count(self) -> int:
        """Number of lines that broke the protocol without preventing play."""

    @property
    def log(self) -> str:
        """The end of the player's standard error, which its author may read."""

    @property
    def network(self) -> NetworkFigures | None:
        """The connection of a remote bot, for the record; None for others."""

    def condemn(self) -> None:
        """Mark the player as unusable for another game, after a failure or a cancelled game; no `quit` is sent."""

    def close(self) -> None:
        """End the player and release all its resources. Never raises."""
