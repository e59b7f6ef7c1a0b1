"""Core types of all rules: sides, terminations, outcomes, and the errors of invalid text."""

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
    """Return the side that is not `side`."""
    return "second" if side == "first" else "first"


def value_text(value: object) -> str:
    """Return an option's value as text: `true`, `4`, `mover`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class Kind(enum.StrEnum):
    """The kind of a termination: a word used in records, with a sentence for people."""

    sentence: str

    def __new__(cls, word: str, sentence: str = "") -> Self:
        found = str.__new__(cls, word)
        found._value_, found.sentence = word, sentence
        return found

    RULES = "rules", "Decided by the rules of the game."
    ADJUDICATION = "adjudication", "Ended early by the referee, as the tournament's settings define."
    FORFEIT = "forfeit", "A bot is at fault and loses. Rated like any other loss."
    VOID = "void", "No bot is at fault. Not rated; the game is played again."


class Termination(enum.StrEnum):
    """The reason why a game ended: a word used in records, pages and the protocol, its kind, and a sentence for people.

    The members are the terminations of the referee and those that several families share. A family creates its own with
    `by_rules` and lists them in the `reasons` of its `Rules`, where `Termination(word)` finds them. Each word has one
    object, so `is` compares terminations.
    """

    kind: Kind
    sentence: str
    """What happened, in plain words."""

    def __new__(cls, word: str, kind: Kind = Kind.RULES, sentence: str = "") -> Self:
        found = str.__new__(cls, word)
        found._value_, found.kind, found.sentence = word, kind, sentence
        return found

    NO_MOVES = "no-moves", Kind.RULES, "the side to move has no legal move"
    REPETITION = "repetition", Kind.RULES, "a position was repeated too often"
    NO_CAPTURE = "no-capture", Kind.RULES, "too many plies without a capture"
    MAX_PLIES = "max-plies", Kind.RULES, "the game reached its maximum length"

    DRAW_BY_SCORE = "draw-by-score", Kind.ADJUDICATION, "both bots scored the game as even for long enough"
    WIN_BY_SCORE = "win-by-score", Kind.ADJUDICATION, "the bots agreed for long enough on who was winning"
    DRAW_AGREED = "draw-agreed", Kind.ADJUDICATION, "one side offered a draw and the other accepted"
    UNSTATED = "unstated", Kind.ADJUDICATION, "the text of an imported game gives the result, but no reason"

    RESIGNED = "resigned", Kind.FORFEIT, "a bot resigned"
    ILLEGAL_MOVE = "illegal-move", Kind.FORFEIT, "a bot sent a move that is not legal"
    TIME = "time", Kind.FORFEIT, "a bot exceeded its time"
    STALLED = "stalled", Kind.FORFEIT, "a bot did not answer at all"
    CRASHED = "crashed", Kind.FORFEIT, "a bot's process ended"
    PROTOCOL_ERROR = "protocol-error", Kind.FORFEIT, "a bot sent a line that is invalid at that point"
    MEMORY_LIMIT = "memory-limit", Kind.FORFEIT, "a bot used more memory than allowed"
    OUTPUT_LIMIT = "output-limit", Kind.FORFEIT, "a bot wrote more than allowed, or a line that is too long"
    PROCESS_LIMIT = "process-limit", Kind.FORFEIT, "a bot started more processes than allowed"
    HANDSHAKE_FAILED = "handshake-failed", Kind.FORFEIT, "a bot did not complete the handshake"
    DISCONNECTED = "disconnected", Kind.FORFEIT, "a bot's connection was lost for longer than allowed"
    SUSPENDED = "suspended", Kind.FORFEIT, "a bot was suspended: it failed to start too many times in a row"

    WORKER_LOST = "worker-lost", Kind.VOID, "the worker that played the game was lost"
    WORKER_WRONG = "worker-wrong", Kind.VOID, "the worker that played the game was quarantined: it sent a wrong record"
    SANDBOX_FAILED = "sandbox-failed", Kind.VOID, "the sandbox could not be set up"
    STOPPED = "stopped", Kind.VOID, "the referee aborted the game"

    def __reduce_ex__(self, _protocol: object) -> tuple[type[Termination], tuple[str]]:
        # Pickle by word: Python before 3.11.4 pickles by member name, which finds no family's own termination.
        return Termination, (str(self.value),)

    @classmethod
    def by_rules(cls, word: str, sentence: str) -> Termination:
        """Create a family's own termination of the kind `rules`; `word` has lower-case letters and hyphens.

        Raise ValueError for a word that the referee uses.
        """
        if word in cls._value2member_map_:
            raise ValueError(f'invalid termination "{word}": the referee uses it; choose another word')
        termination = str.__new__(cls, word)
        termination._name_ = word.replace("-", "_").upper()
        termination._value_, termination.kind, termination.sentence = word, Kind.RULES, sentence
        return termination

    @classmethod
    def _missing_(cls, value: object) -> Termination | None:
        from referee.rules import terminations

        return terminations().get(value) if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a game by the rules: the winner (or `draw`) and the reason."""

    winner: Winner
    reason: Termination


class ParseError(ValueError):
    """An invalid text.

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
    """An unknown family, variant, option or value; `near` lists similar known names.

    `others` maps known names to their names in other languages, in which typos are found too.
    """

    def __init__(
        self, what: str, name: str, known: tuple[str, ...], others: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        self.what, self.name, self.known = what, name, known
        self.near = nearest(name, known, others)
        choice = ("did you mean " + " or ".join(self.near) + "? ") if self.near else ""
        choice += "known: " + ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
        super().__init__(f"unknown {what} {name!r}; {choice}")
