"""The evidence of a failed check, and the cause that is concluded from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from referee.game.failure import BotError, Reason
from referee.game.spec import BotLimits, BotSpec

ANSWERS = {"go": "bestmove", "isready": "readyok", "ugi": "ugiok"}
"""The answer to each question."""
MAX_QUOTED = 60
_LINES = 6
"""Lines of standard error that are quoted."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a failure: `detail` in one sentence, `advice` what to do, `said` the last lines of standard error.

    `is_certain` is False if it is only known that no answer came in time: a busy machine may be the reason.
    """

    detail: str
    advice: str
    said: str = ""
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a failure.

    `lines` are those exchanged in the step. `unfinished` is output without a line end, `at_end` the lines that the bot
    wrote only when its input was closed. `log` is the bot's standard error. `has_answered`: it has answered a `go`.
    `flushed` are the first words of answers that arrived before, perhaps from another process.
    """

    error: BotError
    spec: BotSpec
    limits: BotLimits
    lines: Sequence[str] = ()
    unfinished: str = ""
    at_end: Sequence[str] = ()
    log: str = ""
    has_answered: bool = False
    flushed: frozenset[str] = frozenset()

    @property
    def written_bytes(self) -> int:
        """Number of bytes that the bot wrote since the last question, and when its input was closed."""
        return sum(len(line) + 1 for line in (*self.answers, *self.at_end))

    @property
    def said(self) -> str:
        """The last lines of the bot's standard error."""
        return "\n".join([line.rstrip() for line in self.log.splitlines() if line.strip()][-_LINES:])

    @property
    def is_late(self) -> bool:
        """True if the bot gave no answer, or none in time."""
        return self.error.reason is Reason.LATE

    @property
    def question(self) -> str:
        """The last question in the lines; empty if there is none."""
        return next((line for line in reversed(self.lines) if line.startswith("> ") and line != "> stop"), "")

    @property
    def expected(self) -> str:
        """The word that answers the last question; empty if there is none."""
        return ANSWERS.get(self.question.split()[1], "") if self.question else ""

    @property
    def answers(self) -> list[str]:
        """The lines that the bot wrote after the last question, the latest first."""
        since = takewhile(lambda line: line != self.question, reversed(self.lines))
        return [line[2:] for line in since if line.startswith("< ")]
