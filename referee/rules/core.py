"""The words every part shares: sides, terminations, outcomes, and the error of a text that cannot be read.

Refuses to know any family, any process and any file.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from referee.rules.names import nearest

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
    """Why a game ended: the word that records, pages and the protocol use, what it rests on, and a sentence for people.

    The members are the referee's own and those that families share. What only one family knows is made by that family
    with `by_rules` and stands among the `reasons` of its `Rules`; `Termination(word)` finds it there. There is one
    object to a word, so `is` compares.
    """

    kind: Kind
    """Rules, adjudication, forfeit (a bot's fault) or void (nobody's: not rated, played again)."""
    sentence: str
    """What happened, in plain words."""

    def __new__(cls, word: str, kind: Kind = Kind.RULES, sentence: str = "") -> Self:
        found = str.__new__(cls, word)
        found._value_, found.kind, found.sentence = word, kind, sentence
        return found

    NO_MOVES = "no-moves", Kind.RULES, "the side to move has no legal move"
    REPETITION = "repetition", Kind.RULES, "a position came again too often"
    NO_CAPTURE = "no-capture", Kind.RULES, "too many plies without a capture"
    MAX_PLIES = "max-plies", Kind.RULES, "the game reached its longest permitted length"

    DRAW_BY_SCORE = "draw-by-score", Kind.ADJUDICATION, "both bots saw an even game for long enough"
    WIN_BY_SCORE = "win-by-score", Kind.ADJUDICATION, "the bots agreed for long enough on who was winning"
    DRAW_AGREED = "draw-agreed", Kind.ADJUDICATION, "one bot offered a draw and the other accepted"

    RESIGNED = "resigned", Kind.FORFEIT, "a bot gave up"
    ILLEGAL_MOVE = "illegal-move", Kind.FORFEIT, "a bot sent a move that is not legal"
    TIME = "time", Kind.FORFEIT, "a bot answered after its time was over"
    STALLED = "stalled", Kind.FORFEIT, "a bot did not answer at all"
    CRASHED = "crashed", Kind.FORFEIT, "a bot's process ended"
    PROTOCOL_ERROR = "protocol-error", Kind.FORFEIT, "a bot said something that cannot be understood at that point"
    MEMORY_LIMIT = "memory-limit", Kind.FORFEIT, "a bot took more memory than it may"
    OUTPUT_LIMIT = "output-limit", Kind.FORFEIT, "a bot wrote more than it may, or a line that is too long"
    PROCESS_LIMIT = "process-limit", Kind.FORFEIT, "a bot started more processes than it may"
    HANDSHAKE_FAILED = "handshake-failed", Kind.FORFEIT, "a bot did not get ready to play"
    DISCONNECTED = "disconnected", Kind.FORFEIT, "a bot's connection was lost for longer than it may be"
    SUSPENDED = "suspended", Kind.FORFEIT, "a bot was suspended: it did not get ready too many times in a row"

    WORKER_LOST = "worker-lost", Kind.VOID, "the machine that played the game was lost"
    WORKER_WRONG = "worker-wrong", Kind.VOID, "the machine that played the game was shut out: a record of it was wrong"
    SANDBOX_FAILED = "sandbox-failed", Kind.VOID, "the sandbox could not be set up"
    STOPPED = "stopped", Kind.VOID, "the game was called off by the referee"

    def __reduce_ex__(self, _protocol: object) -> tuple[type[Termination], tuple[str]]:
        """By its word: Python before 3.11.4 goes by the name, which finds no family's own."""
        return Termination, (str(self.value),)

    @classmethod
    def by_rules(cls, word: str, sentence: str) -> Termination:
        """A family's own, of the kind `rules`, in words of lower case letters and hyphens.

        Raises ValueError for a word that is the referee's.
        """
        if word in cls._value2member_map_:
            raise ValueError(f"the termination {word!r} is the referee's own; choose another word")
        found = str.__new__(cls, word)
        found._name_ = word.replace("-", "_").upper()
        found._value_, found.kind, found.sentence = word, Kind.RULES, sentence
        return found

    @classmethod
    def _missing_(cls, value: object) -> Termination | None:
        from referee.rules import terminations

        return terminations().get(value) if isinstance(value, str) else None


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
    """A family, variant, option or value that does not exist; `near` lists those that may have been meant.

    `others` are further names of the known ones, in other languages: a slip of one of these is known as well.
    """

    def __init__(
        self, what: str, name: str, known: tuple[str, ...], others: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        self.what, self.name, self.known = what, name, known
        self.near = nearest(name, known, others)
        choice = ("did you mean " + " or ".join(self.near) + "? ") if self.near else ""
        choice += "known: " + ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
        super().__init__(f"unknown {what} {name!r}; {choice}")
