"""Messages of the protocol: one frozen dataclass per message; `str` formats it as a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from protocol.options import EMPTY, OptionDecl

Offer: TypeAlias = Literal["draw", "resign"]
ResultWord: TypeAlias = Literal["p1win", "p2win", "draw"]
ScoreKind: TypeAlias = Literal["cp", "win"]
ScoreBound: TypeAlias = Literal["", "lowerbound", "upperbound"]

NO_MOVES = frozenset({"------", "(none)", "none", "null", "wtf"})
"""Words that engines write in place of a move when they have none. `0000` and `pass` are moves in some dialects."""


@dataclass(frozen=True, slots=True)
class _Word:
    """A message of one word, that of its class."""

    def __str__(self) -> str:
        return type(self).__name__.lower()


# From the bot -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Id:
    """`id name …`, `id author …`, `id family …`."""

    field: str
    value: str

    def __str__(self) -> str:
        return f"id {self.field} {self.value}" if self.value else f"id {self.field}"


@dataclass(frozen=True, slots=True)
class Declared:
    """`option name …`: the bot announces an option."""

    option: OptionDecl

    def __str__(self) -> str:
        return str(self.option)


class UgiOk(_Word):
    """`ugiok`: the handshake of the bot is complete."""


class ReadyOk(_Word):
    """`readyok`: the answer to `isready`."""


@dataclass(frozen=True, slots=True)
class Info:
    """`info …`: the state of the bot's search. All fields are optional; malformed fields are ignored.

    `score` is from the bot's point of view. With kind `cp` it is in centi-units of the family (hundred to a piece or
    marble). With kind `win` it is the number of plies to a forced win, negative for a forced loss and 0 for a lost
    game. A score with a `bound` is only that, and one of a `multipv` above 1 belongs to a move that is not the best.
    `text` may be anything.
    """

    depth: int | None = None
    nodes: int | None = None
    time_ms: int | None = None
    score: int | None = None
    score_kind: ScoreKind = "cp"
    pv: tuple[str, ...] = ()
    text: str = ""
    bound: ScoreBound = ""
    multipv: int = 1

    @property
    def has_score(self) -> bool:
        """True if the score is that of the best move, and exact."""
        return self.score is not None and not self.bound and self.multipv == 1

    def __str__(self) -> str:
        parts = ["info"]
        if self.depth is not None:
            parts.append(f"depth {self.depth}")
        if self.multipv != 1:
            parts.append(f"multipv {self.multipv}")
        if self.score is not None:
            parts.append(f"score {self.score_kind} {self.score}")
            if self.bound:
                parts.append(self.bound)
        if self.nodes is not None:
            parts.append(f"nodes {self.nodes}")
        if self.time_ms is not None:
            parts.append(f"time {self.time_ms}")
        if self.pv:
            parts.append("pv " + " ".join(self.pv))
        if self.text:
            parts.append(f"string {self.text}")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class BestMove:
    """`bestmove M`, `bestmove M draw`, `bestmove resign`; `move` is None if the bot gives no move."""

    move: str | None
    offer: Offer | None = None

    def __str__(self) -> str:
        parts = ["bestmove", self.move, self.offer]
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Response:
    """`response X`: the answer to a query."""

    value: str

    def __str__(self) -> str:
        return f"response {self.value}"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A line with an unknown verb: logged, never an error."""

    text: str

    def __str__(self) -> str:
        return self.text


# From the referee -------------------------------------------------------------------------------------------------


class Ugi(_Word):
    """`ugi`: the first line of a session."""


@dataclass(frozen=True, slots=True)
class SetOption:
    """`setoption name N value V`; a button has no value."""

    name: str
    value: str | None = None

    @classmethod
    def of(cls, option: OptionDecl, value: str) -> SetOption:
        """Return the message that sets an option to a valid value; a button is pressed, whatever the value."""
        return cls(option.name, None if option.type == "button" else value)

    def __str__(self) -> str:
        return f"setoption name {self.name}" + ("" if self.value is None else f" value {self.value or EMPTY}")

    def bare(self) -> str:
        """Format the message as `setoption N V`, for engines that accept only this form."""
        return f"setoption {self.name}" + (f" {self.value}" if self.value else "")


class IsReady(_Word):
    """`isready`: the bot must answer `readyok`."""


class UgiNewGame(_Word):
    """`uginewgame`: the messages after it belong to another game."""


@dataclass(frozen=True, slots=True)
class SetPosition:
    """`position startpos|fen P [moves …]`; `fen` None is the start position. An empty list of moves is omitted."""

    fen: str | None = None
    moves: tuple[str, ...] = ()

    def __str__(self) -> str:
        start = "position startpos" if self.fen is None else f"position fen {self.fen}"
        return f"{start} moves {' '.join(self.moves)}" if self.moves else start


@dataclass(frozen=True, slots=True)
class LegalMoves:
    """`legal M…`: all legal moves of the last position, for a bot that announced `UGI_LegalMoves`."""

    moves: tuple[str, ...]

    def __str__(self) -> str:
        return f"legal {' '.join(self.moves)}"


GO_NUMBERS = ("p1time", "p2time", "p1inc", "p2inc", "movetime", "depth", "nodes")
"""Words of `go` that a number follows, in the order in which they are sent."""


@dataclass(frozen=True, slots=True)
class Go:
    """`go …`: search and answer `bestmove`. Times are in milliseconds.

    p1 is the side that moves first in the variant's start position.
    """

    p1time: int | None = None
    p2time: int | None = None
    p1inc: int | None = None
    p2inc: int | None = None
    movetime: int | None = None
    depth: int | None = None
    nodes: int | None = None
    infinite: bool = False

    def __str__(self) -> str:
        numbers = ((name, getattr(self, name)) for name in GO_NUMBERS)
        parts = ["go", *(f"{name} {number}" for name, number in numbers if number is not None)]
        if self.infinite:
            parts.append("infinite")
        return " ".join(parts)


class Stop(_Word):
    """`stop`: answer `bestmove` now."""


class Quit(_Word):
    """`quit`: end the process."""


@dataclass(frozen=True, slots=True)
class UgiQuery:
    """`query gameover|p1turn|result`: the bot must answer `response X`."""

    what: str

    def __str__(self) -> str:
        return f"query {self.what}"


@dataclass(frozen=True, slots=True)
class UgiResult:
    """`result p1win|p2win|draw <termination>`: how the game ended."""

    winner: ResultWord
    termination: str = ""

    def __str__(self) -> str:
        return f"result {self.winner} {self.termination}" if self.termination else f"result {self.winner}"


BotMessage: TypeAlias = Id | Declared | UgiOk | ReadyOk | Info | BestMove | Response | Unknown
RefereeMessage: TypeAlias = (
    Ugi
    | SetOption
    | IsReady
    | UgiNewGame
    | SetPosition
    | LegalMoves
    | Go
    | Stop
    | Quit
    | UgiQuery
    | UgiResult
    | Unknown
)
Message: TypeAlias = BotMessage | RefereeMessage
