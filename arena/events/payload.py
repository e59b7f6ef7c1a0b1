"""Parts of the payloads of events: texts and numbers with their bounds, the plies of a game, the workers.

Another process wrote them, so none may be longer than what is kept in memory and shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import AfterValidator, ConfigDict, Field

from referee.game.record import Ply

MAX_PLIES = 20_000
BATCH_PLIES = 500
"""Maximum number of plies in one batch."""
MAX_TEXT = 300
"""Maximum number of characters in a text for people, which may come from a bot."""
MAX_MOVE, MAX_PV = 100, 120
"""Maximum numbers of characters in a move and in a principal variation."""
CONFIG = ConfigDict(
    frozen=True,
    strict=True,
    allow_inf_nan=False,
    extra="ignore",
    revalidate_instances="always",
    use_attribute_docstrings=True,
)
"""How payloads are validated."""

Text = Annotated[str, Field(max_length=MAX_TEXT)]
Word = Annotated[str, Field(max_length=40)]
Name = Annotated[str, Field(max_length=200)]
Number = Annotated[int, Field(ge=0, lt=2**53)]


def _bounded(ply: Ply) -> Ply:
    """Check a ply of another process. Raises ValueError."""
    is_text_short = 1 <= len(ply.move) <= MAX_MOVE and len(ply.pv) <= MAX_PV
    is_small = all(0 <= number < 2**63 for number in (ply.depth, ply.nodes) if number is not None)
    if not (is_text_short and is_small and ply.ms >= 0 and ply.lag_ms >= 0 and -(2**31) <= (ply.score or 0) < 2**31):
        raise ValueError("a ply is out of bounds")
    return ply


ToldPly = Annotated[Ply, AfterValidator(_bounded)]
"""A ply with its move, as news of a game write it."""


@dataclass(frozen=True, slots=True)
class WorkerPayload:
    """One worker: `busy` of its `slots` are in use. An unfit worker gets no games."""

    __pydantic_config__: ClassVar[ConfigDict] = CONFIG

    name: Name
    """Name of the worker, by default that of its machine."""
    slots: Number
    """Number of games that the worker can play at once."""
    busy: Number
    """Number of games that it plays now."""
    version: Name = ""
    """The worker's version of the arena, with the digest of its rules; empty for local slots."""
    sandbox: Name = ""
    """The sandbox level of the worker's bots."""
    is_fit: bool = True
    """Whether the worker gets games."""
    problem: Text = ""
    """Why the worker gets no games: it has another version, or is quarantined."""
    speed: Number = 0
    """Speed of one slot under full load, in perft leaves a second; 0 if it was not measured."""

    @property
    def idle(self) -> int:
        """Slots without a game."""
        return max(0, self.slots - self.busy)

    @property
    def state(self) -> str:
        """State of the worker: `refused`, `playing` or `idle`."""
        return "refused" if not self.is_fit else "playing" if self.busy else "idle"
