"""The words of the language: one frozen record per message, each of which writes itself as a line.

`parse_bot_line` reads what a bot writes and forgives what real engines get wrong; `parse_referee_line` reads what the
referee writes. Refuses to know whether a message is allowed now (see `session`) and what a move means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from protocol.errors import BadLine
from protocol.options import EMPTY, OptionDecl, parse_option, whole

Offer: TypeAlias = Literal["draw", "resign"]
Result3: TypeAlias = Literal["p1win", "p2win", "draw"]
ScoreKind: TypeAlias = Literal["cp", "win"]

NO_MOVES = frozenset({"------", "(none)", "none", "null", "wtf"})
"""What engines write for a move when they have none. `0000` and `pass` are moves: a dialect may use them."""


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


@dataclass(frozen=True, slots=True)
class UgiOk:
    """`ugiok`: the bot has said all about itself."""

    def __str__(self) -> str:
        return "ugiok"


@dataclass(frozen=True, slots=True)
class ReadyOk:
    """`readyok`: the answer to `isready`."""

    def __str__(self) -> str:
        return "readyok"


@dataclass(frozen=True, slots=True)
class Info:
    """`info …`: what the bot thinks. Everything is optional, and nothing malformed is an error.

    `score` is from the bot's own view: with kind `cp` in hundredths of the family's unit (a piece, a marble), with
    kind `win` the number of plies to a forced win (negative: to a forced loss). `text` is free.
    """

    depth: int | None = None
    nodes: int | None = None
    time_ms: int | None = None
    score: int | None = None
    score_kind: ScoreKind = "cp"
    pv: tuple[str, ...] = ()
    text: str = ""

    def __str__(self) -> str:
        parts = ["info"]
        if self.depth is not None:
            parts.append(f"depth {self.depth}")
        if self.score is not None:
            parts.append(f"score {self.score_kind} {self.score}")
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
    """`bestmove M`, `bestmove M draw`, `bestmove resign`; `move` is None where the bot names none."""

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
    """A line of no known verb: logged, never an error."""

    text: str

    def __str__(self) -> str:
        return self.text


# From the referee -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ugi:
    """`ugi`: the first line of all."""

    def __str__(self) -> str:
        return "ugi"


@dataclass(frozen=True, slots=True)
class SetOption:
    """`setoption name N value V`; a button has no value."""

    name: str
    value: str | None = None

    def __str__(self) -> str:
        return f"setoption name {self.name}" + ("" if self.value is None else f" value {self.value or EMPTY}")

    def bare(self) -> str:
        """The same in the style of engines that take `setoption N V` and nothing else."""
        return f"setoption {self.name}" + (f" {self.value}" if self.value else "")


@dataclass(frozen=True, slots=True)
class IsReady:
    """`isready`: to be answered with `readyok`."""

    def __str__(self) -> str:
        return "isready"


@dataclass(frozen=True, slots=True)
class NewGame:
    """`uginewgame`: what follows belongs to another game."""

    def __str__(self) -> str:
        return "uginewgame"


@dataclass(frozen=True, slots=True)
class SetPosition:
    """`position startpos|fen P [moves …]`; `fen` None is the start position. An empty list of moves is not written."""

    fen: str | None = None
    moves: tuple[str, ...] = ()

    def __str__(self) -> str:
        start = "position startpos" if self.fen is None else f"position fen {self.fen}"
        return f"{start} moves {' '.join(self.moves)}" if self.moves else start


@dataclass(frozen=True, slots=True)
class Go:
    """`go …`: think, and answer `bestmove`. Times in milliseconds; p1 is the side that moves first in the game."""

    p1time: int | None = None
    p2time: int | None = None
    p1inc: int | None = None
    p2inc: int | None = None
    movetime: int | None = None
    depth: int | None = None
    nodes: int | None = None
    infinite: bool = False

    def __str__(self) -> str:
        parts = ["go"]
        if self.p1time is not None:
            parts.append(f"p1time {self.p1time}")
        if self.p2time is not None:
            parts.append(f"p2time {self.p2time}")
        if self.p1inc is not None:
            parts.append(f"p1inc {self.p1inc}")
        if self.p2inc is not None:
            parts.append(f"p2inc {self.p2inc}")
        if self.movetime is not None:
            parts.append(f"movetime {self.movetime}")
        if self.depth is not None:
            parts.append(f"depth {self.depth}")
        if self.nodes is not None:
            parts.append(f"nodes {self.nodes}")
        if self.infinite:
            parts.append("infinite")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Stop:
    """`stop`: answer `bestmove` now."""

    def __str__(self) -> str:
        return "stop"


@dataclass(frozen=True, slots=True)
class Quit:
    """`quit`: end the process."""

    def __str__(self) -> str:
        return "quit"


@dataclass(frozen=True, slots=True)
class Query:
    """`query gameover|p1turn|result`: to be answered with `response X`."""

    what: str

    def __str__(self) -> str:
        return f"query {self.what}"


@dataclass(frozen=True, slots=True)
class Result:
    """`result p1win|p2win|draw <termination>`: how the game ended."""

    winner: Result3
    termination: str = ""

    def __str__(self) -> str:
        return f"result {self.winner} {self.termination}" if self.termination else f"result {self.winner}"


BotMessage: TypeAlias = Id | Declared | UgiOk | ReadyOk | Info | BestMove | Response | Unknown
RefereeMessage: TypeAlias = (
    Ugi | SetOption | IsReady | NewGame | SetPosition | Go | Stop | Quit | Query | Result | Unknown
)
Message: TypeAlias = BotMessage | RefereeMessage

_UGI, _UGI_OK, _READY_OK, _IS_READY = Ugi(), UgiOk(), ReadyOk(), IsReady()
_NEW_GAME, _STOP, _QUIT = NewGame(), Stop(), Quit()


# Reading what a bot writes ----------------------------------------------------------------------------------------


_NOT_MOVES: dict[str, BestMove] = {
    "": BestMove(None),
    "resign": BestMove(None, "resign"),
    "draw": BestMove(None, "draw"),
    **{token: BestMove(None) for token in NO_MOVES},
}


def _bestmove(rest: str, line: str) -> BestMove:
    if rest in _NOT_MOVES:
        return _NOT_MOVES[rest]
    words = rest.split()
    if len(words) > 1:
        # What is not understood stays part of the move: the dialect judges it, and some spell moves with blanks.
        if "ponder" in words[1:]:
            del words[words.index("ponder", 1) :]
        if words[-1] == "draw" and len(words) > 1:
            move = " ".join(words[:-1])
            return BestMove(None if move in NO_MOVES else move, "draw")
        rest = " ".join(words)
        if rest in _NOT_MOVES:
            return _NOT_MOVES[rest]
    return BestMove(rest)


def _id(rest: str, line: str) -> Id:
    words = rest.split(None, 1)
    if not words:
        raise BadLine("id of nothing", line=line, hint="write: id name N, id author A or id family F")
    return Id(words[0], words[1] if len(words) > 1 else "")


def _option(rest: str, line: str) -> Declared:
    return Declared(parse_option(line))


def _response(rest: str, line: str) -> Response:
    if not rest:
        raise BadLine("a response without a value", line=line, hint="write: response true")
    return Response(rest)


_INFO_NUMBERS = frozenset({"depth", "nodes", "time"})
_INFO_IGNORED = frozenset({"seldepth", "multipv", "hashfull", "nps", "tbhits", "cpuload", "currmovenumber", "currmove"})
_INFO_WORDS = _INFO_NUMBERS | _INFO_IGNORED | {"score", "pv", "string", "lowerbound", "upperbound"}


def _number(word: str) -> int | None:
    """A whole number; the fraction some engines write is cut off."""
    head, dot, tail = word.partition(".")
    return whole(head) if not dot or (tail.isdecimal() and tail.isascii()) else None


def _info(rest: str, line: str) -> Info:
    words = rest.split()
    if words and words[0] not in _INFO_WORDS:
        return Info(text=rest)  # such as `info error "…"`
    numbers: dict[str, int | None] = {}
    score: int | None = None
    kind: ScoreKind = "cp"
    pv: tuple[str, ...] = ()
    text = ""
    at, end = 0, len(words)
    while at < end:
        word = words[at]
        at += 1
        if word == "string":
            text = rest.split(None, at)[-1] if at < end else ""
            break
        if word == "pv":
            start = at
            while at < end and words[at] not in _INFO_WORDS:
                at += 1
            pv = tuple(words[start:at])
        elif word == "score" and at < end:
            if words[at] in ("cp", "win", "mate"):
                named: ScoreKind = "cp" if words[at] == "cp" else "win"
                at += 1
            else:
                named = "cp"
            number = _number(words[at]) if at < end else None
            if number is not None:
                score, kind = number, named
                at += 1
        elif word in _INFO_NUMBERS and at < end:
            number = _number(words[at])
            if number is not None and number >= 0:
                numbers[word] = number
                at += 1
        elif word in _INFO_IGNORED:
            at += 1
    return Info(numbers.get("depth"), numbers.get("nodes"), numbers.get("time"), score, kind, pv, text)


_BOT: dict[str, Callable[[str, str], BotMessage]] = {
    "bestmove": _bestmove,
    "info": _info,
    "id": _id,
    "option": _option,
    "response": _response,
    "ugiok": lambda rest, line: _UGI_OK,
    "readyok": lambda rest, line: _READY_OK,
}


def parse_bot_line(line: bytes | str) -> BotMessage:
    """What a line of a bot says, whatever the state. Blanks may be many; a verb nobody knows gives `Unknown`.

    Raises BadLine for `id`, `option` or `response` that say nothing usable; a `bestmove` or `info` never raises.
    """
    if isinstance(line, bytes):
        line = line.decode("utf-8", "replace")
    words = line.split(None, 1)
    if words:
        read = _BOT.get(words[0])
        if read is not None:
            return read(words[1].rstrip() if len(words) > 1 else "", line)
    return Unknown(line.strip())


# Reading what the referee writes ----------------------------------------------------------------------------------


def _setoption(rest: str, line: str) -> SetOption:
    words = rest.split()
    if not words:
        raise BadLine("setoption of nothing", line=line, hint="write: setoption name N value V")
    if words[0] != "name" or len(words) == 1:
        return SetOption(words[0], " ".join(words[1:]) or None)
    if "value" not in words[2:]:
        return SetOption(" ".join(words[1:]))
    at = words.index("value", 2)
    value = " ".join(words[at + 1 :])
    return SetOption(" ".join(words[1:at]), "" if value == EMPTY else value)


def _position(rest: str, line: str) -> SetPosition:
    words = rest.split()
    at = words.index("moves") if "moves" in words else len(words)
    moves = tuple(words[at + 1 :])
    if words[:1] == ["startpos"] and at == 1:
        return SetPosition(None, moves)
    if words[:1] == ["fen"] and at > 1:
        return SetPosition(" ".join(words[1:at]), moves)
    raise BadLine("a position without a start", line=line, hint="write: position startpos|fen P [moves M...]")


_GO_NUMBERS = frozenset({"p1time", "p2time", "p1inc", "p2inc", "movetime", "depth", "nodes"})


def _go(rest: str, line: str) -> Go:
    words = rest.split()
    found: dict[str, int] = {}
    infinite = False
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "infinite":
            infinite = True
        elif word in _GO_NUMBERS:
            number = whole(words[at]) if at < len(words) else None
            if number is None:
                raise BadLine(f"go {word} without a number", line=line, hint=f"write: go {word} 1000")
            found[word] = number
            at += 1
    return Go(infinite=infinite, **found)


def _query(rest: str, line: str) -> Query:
    if not rest:
        raise BadLine("a query of nothing", line=line, hint="write: query gameover, query p1turn or query result")
    return Query(rest)


def _result(rest: str, line: str) -> Result:
    winner, _, termination = rest.partition(" ")
    if winner not in ("p1win", "p2win", "draw"):
        raise BadLine("a result without a winner", line=line, hint="write: result p1win|p2win|draw <termination>")
    return Result(cast(Result3, winner), termination.strip())


_REFEREE: dict[str, Callable[[str, str], RefereeMessage]] = {
    "position": _position,
    "go": _go,
    "stop": lambda rest, line: _STOP,
    "quit": lambda rest, line: _QUIT,
    "isready": lambda rest, line: _IS_READY,
    "setoption": _setoption,
    "uginewgame": lambda rest, line: _NEW_GAME,
    "query": _query,
    "result": _result,
    "ugi": lambda rest, line: _UGI,
}


def parse_referee_line(line: bytes | str) -> RefereeMessage:
    """What a line of the referee says, for bots. A verb nobody knows gives `Unknown`; raises BadLine."""
    if isinstance(line, bytes):
        line = line.decode("utf-8", "replace")
    words = line.split(None, 1)
    if words:
        read = _REFEREE.get(words[0])
        if read is not None:
            return read(words[1].rstrip() if len(words) > 1 else "", line)
    return Unknown(line.strip())
