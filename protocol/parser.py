"""Parse lines into messages.

`parse_bot_line` is lenient about common mistakes of real engines; `parse_referee_line` parses lines of the referee.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from protocol.errors import BadLine
from protocol.messages import (
    GO_NUMBERS,
    NO_MOVES,
    BestMove,
    BotMessage,
    Declared,
    Go,
    Id,
    Info,
    IsReady,
    LegalMoves,
    Quit,
    ReadyOk,
    RefereeMessage,
    Response,
    ResultWord,
    ScoreBound,
    ScoreKind,
    SetOption,
    SetPosition,
    Stop,
    Ugi,
    UgiNewGame,
    UgiOk,
    UgiQuery,
    UgiResult,
    Unknown,
)
from protocol.options import EMPTY, parse_int, parse_option

_UGI, _UGI_OK, _READY_OK, _IS_READY = Ugi(), UgiOk(), ReadyOk(), IsReady()
_NEW_GAME, _STOP, _QUIT = UgiNewGame(), Stop(), Quit()


# Lines of a bot --------------------------------------------------------------------------------------------------


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
        # Unknown words stay part of the move, since some dialects write moves with spaces; the dialect validates them.
        # UCI engines add the move on which they would ponder.
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
        raise BadLine("id without a field", line=line, hint="write: id name N, id author A or id family F")
    return Id(words[0], words[1] if len(words) > 1 else "")


def _option(rest: str, line: str) -> Declared:
    return Declared(parse_option(line))


def _response(rest: str, line: str) -> Response:
    if not rest:
        raise BadLine("response without a value", line=line, hint="write: response true")
    return Response(rest)


_INFO_NUMBERS = frozenset({"depth", "nodes", "time", "multipv"})
_BOUNDS: dict[str, ScoreBound] = {"lowerbound": "lowerbound", "upperbound": "upperbound"}
_INFO_IGNORED = frozenset({"seldepth", "hashfull", "nps", "tbhits", "cpuload", "currmovenumber", "currmove"})
_INFO_WORDS = _INFO_NUMBERS | _INFO_IGNORED | _BOUNDS.keys() | {"score", "pv", "string"}


def _number(word: str) -> int | None:
    """Parse a whole number; a fraction, which some engines write, is cut off."""
    head, dot, tail = word.partition(".")
    return parse_int(head) if not dot or (tail.isdecimal() and tail.isascii()) else None


def _kind(words: Sequence[str], at: int) -> tuple[ScoreKind, int]:
    """Return the kind of the score whose words begin at a place, and the place of its number."""
    word = words[at] if at < len(words) else ""
    kind: ScoreKind = "win" if word in ("win", "mate") else "cp"
    return kind, at + (word in ("cp", "win", "mate"))


def _info(rest: str, line: str) -> Info:
    words = rest.split()
    if words and words[0] not in _INFO_WORDS:
        return Info(text=rest)  # free text, such as `info error "…"`
    numbers: dict[str, int | None] = {}
    score: int | None = None
    kind: ScoreKind = "cp"
    bound: ScoreBound = ""
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
        elif word == "score":
            named, at = _kind(words, at)
            number = _number(words[at]) if at < end else None
            if number is not None:
                score, kind, bound = number, named, ""
                at += 1
        elif word in _INFO_NUMBERS and at < end:
            number = _number(words[at])
            if number is not None and number >= 0:
                numbers[word] = number
                at += 1
        elif word in _BOUNDS and score is not None:
            bound = _BOUNDS[word]
        elif word in _INFO_IGNORED:
            at += 1
    line_number = numbers.get("multipv") or 1
    return Info(
        numbers.get("depth"), numbers.get("nodes"), numbers.get("time"), score, kind, pv, text, bound, line_number
    )


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
    """Parse a line of a bot, regardless of the state. Runs of spaces count as one; an unknown verb gives `Unknown`.

    Raises BadLine for an unusable `id`, `option` or `response`; a `bestmove` or `info` never raises.
    """
    if isinstance(line, bytes):
        line = line.decode("utf-8", "replace")
    words = line.split(None, 1)
    if words:
        read = _BOT.get(words[0])
        if read is not None:
            return read(words[1].rstrip() if len(words) > 1 else "", line)
    return Unknown(line.strip())


# Lines of the referee ---------------------------------------------------------------------------------------------


def _setoption(rest: str, line: str) -> SetOption:
    words = rest.split()
    if not words:
        raise BadLine("setoption without a name", line=line, hint="write: setoption name N value V")
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
    raise BadLine("position without startpos or fen", line=line, hint="write: position startpos|fen P [moves M...]")


def _go(rest: str, line: str) -> Go:
    words = rest.split()
    numbers: dict[str, int] = {}
    infinite = False
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "infinite":
            infinite = True
        elif word in GO_NUMBERS:
            number = parse_int(words[at]) if at < len(words) else None
            if number is None:
                raise BadLine(f"go {word} without a number", line=line, hint=f"write: go {word} 1000")
            numbers[word] = number
            at += 1
    return Go(infinite=infinite, **numbers)


def _legal(rest: str, line: str) -> LegalMoves:
    if not rest:
        raise BadLine("legal without moves", line=line, hint="write: legal M...")
    return LegalMoves(tuple(rest.split()))


def _query(rest: str, line: str) -> UgiQuery:
    if not rest:
        raise BadLine("query without a subject", line=line, hint="write: query gameover, query p1turn or query result")
    return UgiQuery(rest)


def _result(rest: str, line: str) -> UgiResult:
    winner, _, termination = rest.partition(" ")
    if winner not in ("p1win", "p2win", "draw"):
        raise BadLine("result without a winner", line=line, hint="write: result p1win|p2win|draw <termination>")
    return UgiResult(cast(ResultWord, winner), termination.strip())


_REFEREE: dict[str, Callable[[str, str], RefereeMessage]] = {
    "position": _position,
    "legal": _legal,
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
    """Parse a line of the referee, for bots. An unknown verb gives `Unknown`; raises BadLine."""
    if isinstance(line, bytes):
        line = line.decode("utf-8", "replace")
    words = line.split(None, 1)
    if words:
        read = _REFEREE.get(words[0])
        if read is not None:
            return read(words[1].rstrip() if len(words) > 1 else "", line)
    return Unknown(line.strip())
