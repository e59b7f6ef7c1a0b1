"""The words every part shares: sides, terminations, outcomes, and the error of a text that cannot be read.

Refuses to know any game, any process and any file.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal, TypeAlias

Side: TypeAlias = Literal["first", "second"]
Winner: TypeAlias = Literal["first", "second", "draw"]

SIDES: tuple[Side, Side] = ("first", "second")


def other(side: Side) -> Side:
    """The side that is not `side`."""
    return "second" if side == "first" else "first"


class Kind(enum.StrEnum):
    """What a termination rests on."""

    RULES = "rules"
    ADJUDICATION = "adjudication"
    FORFEIT = "forfeit"
    VOID = "void"


class Termination(enum.StrEnum):
    """Why a game ended. The one list: records, pages and the protocol use these words and no others."""

    EJECTIONS = "ejections"
    CONNECTION = "connection"
    SIMULTANEOUS_CONNECTION = "simultaneous-connection"
    BLOCKED = "blocked"
    CHECKMATE = "checkmate"
    STALEMATE = "stalemate"
    BARE_KINGS = "bare-kings"
    GOAL = "goal"
    KING_CAPTURED = "king-captured"
    KING_ESCAPED = "king-escaped"
    ATTACKERS_ELIMINATED = "attackers-eliminated"
    TUICHI = "tuichi"
    NO_MOVES = "no-moves"
    REPETITION = "repetition"
    PERPETUAL_RAICHI = "perpetual-raichi"
    NO_CAPTURE = "no-capture"
    NO_EJECTION = "no-ejection"
    MAX_PLIES = "max-plies"

    DRAW_BY_SCORE = "draw-by-score"
    WIN_BY_SCORE = "win-by-score"
    DRAW_AGREED = "draw-agreed"

    RESIGNED = "resigned"
    ILLEGAL_MOVE = "illegal-move"
    TIME = "time"
    STALLED = "stalled"
    CRASHED = "crashed"
    PROTOCOL_ERROR = "protocol-error"
    MEMORY_LIMIT = "memory-limit"
    OUTPUT_LIMIT = "output-limit"
    PROCESS_LIMIT = "process-limit"
    HANDSHAKE_FAILED = "handshake-failed"

    WORKER_LOST = "worker-lost"
    SANDBOX_FAILED = "sandbox-failed"
    STOPPED = "stopped"

    @property
    def kind(self) -> Kind:
        """Rules, adjudication, forfeit (a bot's fault) or void (nobody's: not rated, played again)."""
        if self in _ADJUDICATIONS:
            return Kind.ADJUDICATION
        if self in _FORFEITS:
            return Kind.FORFEIT
        return Kind.VOID if self in _VOIDS else Kind.RULES


_ADJUDICATIONS = frozenset({Termination.DRAW_BY_SCORE, Termination.WIN_BY_SCORE, Termination.DRAW_AGREED})
_FORFEITS = frozenset(
    {
        Termination.RESIGNED,
        Termination.ILLEGAL_MOVE,
        Termination.TIME,
        Termination.STALLED,
        Termination.CRASHED,
        Termination.PROTOCOL_ERROR,
        Termination.MEMORY_LIMIT,
        Termination.OUTPUT_LIMIT,
        Termination.PROCESS_LIMIT,
        Termination.HANDSHAKE_FAILED,
    }
)
_VOIDS = frozenset({Termination.WORKER_LOST, Termination.SANDBOX_FAILED, Termination.STOPPED})


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended by the rules: who won (or `draw`), and why."""

    winner: Winner
    reason: Termination


class ParseError(ValueError):
    """A text that cannot be read.

    `problem` says what is wrong, `index` (0-based) where in `text`, `hint` what to write instead.
    """

    def __init__(self, problem: str, *, text: str, index: int = 0, hint: str = "") -> None:
        self.problem = problem
        self.text = text
        self.index = max(0, min(index, len(text)))
        self.hint = hint
        shown = text if len(text) <= 120 else text[:117] + "..."
        tail = f"; {hint}" if hint else ""
        super().__init__(f"{problem} at column {self.index + 1} of {shown!r}{tail}")


class UnknownNameError(ValueError):
    """A family, variant, option or value that does not exist; `near` lists the nearest that do."""

    def __init__(self, what: str, name: str, known: tuple[str, ...]) -> None:
        import difflib

        self.what, self.name, self.known = what, name, known
        self.near = tuple(difflib.get_close_matches(name, known, n=3, cutoff=0.4))
        choice = "did you mean " + " or ".join(self.near) if self.near else "known: " + ", ".join(known[:12])
        super().__init__(f"unknown {what} {name!r}; {choice}")
