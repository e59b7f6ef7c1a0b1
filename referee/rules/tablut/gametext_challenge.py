"""Games of the Tablut challenge of Bologna: the logs of its server, and the states that it sends, as JSON.

A log has a line `Turn: W Pawn from e3 to d3` for each move that the server received; a warning below it says that the
server refused the move. The log of a game also draws the states, the start among them. A state as JSON is
`{"board": [["EMPTY", …], …], "turn": "WHITE"}`, one per line; the moves are what differs between them. The rules are
those of `ashton`, unless a first line `{"variant": …}` names others. Such lines also hold tags, comments, marks and
variations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from referee.rules.core import ParseError
from referee.rules.gametags import RESULTS, RULE, Draft, other_tags
from referee.rules.position import state_after
from referee.rules.rules import GameFormat, GameText, Ruleset, State, Variation
from referee.rules.tablut.notation import read_move, write_move

VARIANT: Final = "ashton"
_SIGNS: Final = {"BLACK": "t", "WHITE": "T", "KING": "K", "EMPTY": "1", "THRONE": "1"}
_NAMES: Final = {"t": "BLACK", "T": "WHITE", "K": "KING"}
_SIDES: Final = {"WHITE": "d", "BLACK": "a"}
_ENDS: Final = ("WHITEWIN", "BLACKWIN", "DRAW")
_RANKS: Final = 9
_TURN: Final = re.compile(r"Turn: *([WB]) +(?:Pawn +|King +)?from +([a-i][1-9]) +to +([a-i][1-9])\b")
_PLAYER: Final = re.compile(r"(White|Black) player name:[ \t]*([^\r\n]*)")
_PLAYERS: Final = re.compile(r": Players:\tWhite:\t([^\t]*)\tvs\t([^\t\r\n]*)")
_BEGUN: Final = re.compile(r"(?:^|: )(?:Accensione server\s*$|Players:\tWhite:\t)")
_TIME: Final = re.compile(r"^[^{]*[0-9]:[0-9]{2}:[0-9]{2}\b")
_ROW: Final = re.compile(r"[OBWKT]{9}")
_ROWS: Final = str.maketrans("OTBW", "11tT")
"""The letters of a row of a drawn board, as in position strings; ranks are counted from the first row."""
_DRAWN: Final = {"W": "d", "B": "a", "WW": "WHITEWIN", "BW": "BLACKWIN", "D": "DRAW"}
"""What stands below a drawn board: whose turn it is, or the end."""
_REFUSED: Final = re.compile(r"(?:WARNING|AVVERTENZA|SEVERE|GRAVE):(?![^\r\n]*troppi errori)")
_FORFEIT: Final = re.compile(r"troppi errori giocatore (nero|bianco)|\b(WHITEWIN|BLACKWIN)\b|\b(DRAW)\b")
_HINT: Final = (
    'write a log with lines "Turn: W Pawn from e3 to d3", or a state per line, {"board": [...], "turn": "WHITE"}'
)


def starts(text: str, _: Ruleset) -> Iterator[int]:
    """Yield where the games of a text begin: the first line, lines with a variant, the first lines of further logs."""
    at, time, last, has_moves = 0, -1, -1, False
    for line in text.split("\n"):
        if line.strip():
            begin = -1
            if last < 0 or line.lstrip().startswith('{"variant"'):
                begin = at
            elif has_moves and _BEGUN.search(line) is not None:
                # The time of a log's message is on the line above it. A log without a move holds no game.
                begin = max(at if time < 0 else time, last + 1)
            if begin >= 0:
                last, has_moves = begin, False
                yield last
            time = at if _TIME.search(line) is not None else -1
            has_moves = has_moves or _TURN.search(line) is not None
        at += len(line) + 1


def read_games(text: str, ruleset: Ruleset) -> list[GameText]:
    """Return the games of a text. Raise ParseError."""
    bounds = [*starts(text, ruleset), len(text)]
    return [
        (_states if text[first:last].lstrip().startswith("{") else _log)(text, first, last, ruleset)
        for first, last in pairwise(bounds)
    ]


def _settled(draft: Draft, ruleset: Ruleset) -> Ruleset:
    """Return the rules of a game, and store them in full."""
    settled = ruleset.rules.settle(draft.variant or VARIANT, draft.options)
    draft.variant, draft.options = settled.variant.name, dict(settled.overrides)
    return settled


def _log(text: str, first: int, last: int, ruleset: Ruleset) -> GameText:
    """Return the game of a log. Raise ParseError for any other text."""
    draft, moves, rows, end, at = Draft(), list[str](), list[str](), "", first
    settled = _settled(draft, ruleset)
    for line in text[first:last].split("\n"):
        said = line.strip()
        if (turn := _TURN.search(line)) is not None:
            moves.append(write_move(read_move(turn[2] + turn[3])))
        elif (player := _PLAYER.search(line)) is not None:
            draft.tags[player[1]] = player[2].strip()
        elif (players := _PLAYERS.search(line)) is not None:
            draft.tags |= {"White": players[1], "Black": players[2].strip()}
        elif _REFUSED.search(line) and moves:
            moves.pop()
        elif (forfeit := _FORFEIT.search(line)) is not None:
            end = ("WHITEWIN" if forfeit[1] == "nero" else "BLACKWIN") if forfeit[1] else forfeit[2] or forfeit[3]
        elif _ROW.fullmatch(said):
            rows.append(said.translate(_ROWS))
        elif said in _DRAWN and len(rows) == _RANKS:
            drawn, board = _DRAWN[said], re.sub("1+", lambda gap: str(len(gap[0])), "/".join(rows))
            end = drawn if drawn in _ENDS else end
            if not moves and drawn not in _ENDS:
                _place(f"{board} {drawn}", draft, settled, text, at)
            rows.clear()
        at += len(line) + 1
    if not moves:
        raise ParseError("not a log of the Tablut challenge", text=text, index=first, hint=_HINT)
    draft.result = _result(end, settled)
    return draft.game(moves)


def _result(end: str, settled: Ruleset) -> str:
    """Return the result that the server's word for the turn tells: one of `_ENDS`, any other for no end."""
    if end not in _ENDS:
        return "*"
    is_first = (end == "WHITEWIN") == (settled.values["first_player"] == "defenders")
    return "1/2-1/2" if end == "DRAW" else RESULTS[0] if is_first else RESULTS[1]


def _place(position: str, draft: Draft, settled: Ruleset, text: str, at: int) -> State:
    """Return the position of the first state, and store it if it is not the usual start. Raise ParseError."""
    try:
        state = settled.read(draft.position or position)
    except ParseError as error:
        raise ParseError(f"invalid state: {error.problem}", text=text, index=at, hint=error.hint) from None
    if draft.position is None and settled.write(state) != settled.variant.position:
        draft.position = settled.write(state)
    return state


def _states(text: str, first: int, last: int, ruleset: Ruleset) -> GameText:
    """Return the game of a sequence of states. Raise ParseError."""
    draft, moves, variations = Draft(), list[str](), list[Variation]()
    settled: Ruleset | None = None
    state: State | None = None
    at = first
    for line in text[first:last].split("\n"):
        if line.strip():
            data = _object(line, text, at)
            if settled is None:
                settled = _take_head(data, draft, ruleset, text, at)
            if "board" in data:
                if state is None:
                    side = _SIDES.get(str(data.get("turn")), "d")
                    state = _place(f"{_board(data, text, at)} {side}", draft, settled, text, at)
                else:
                    code = _move_to(data, state, settled, text, at)
                    after = state_after(settled, state, code)
                    state = state if after is None else after
                    moves.append(write_move(code))
                variations += _take_remarks(data, draft, len(moves), text, at)
                if data.get("turn") in _ENDS:
                    draft.result = _result(data["turn"], settled)
        at += len(line) + 1
    if state is None:
        raise ParseError("not a state of the Tablut challenge", text=text, index=first, hint=_HINT)
    return replace(draft.game(moves), variations=tuple(variations))


def _object(line: str, text: str, at: int) -> dict[str, Any]:
    """Return the JSON object of a line. Raise ParseError."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise ParseError("not a state of the Tablut challenge", text=text, index=at, hint=_HINT)
    return data


def _take_head(data: Mapping[str, Any], draft: Draft, ruleset: Ruleset, text: str, at: int) -> Ruleset:
    """Store what the first line says of the game, and return its rules. Raise ParseError."""
    try:
        draft.variant = str(data.get("variant", ""))
        for name, value in dict(data.get("options", {})).items():
            draft.take_rule(f"{RULE}{name}", str(value), ruleset.rules)
        draft.tags = {str(name): str(value) for name, value in dict(data.get("tags", {})).items()}
        draft.result = str(data.get("result", "*"))
        draft.position = data.get("position")
        return _settled(draft, ruleset)
    except (ValueError, TypeError) as error:
        raise ParseError(f"not the beginning of a game: {error}", text=text, index=at, hint=_HINT) from None


def _board(data: Mapping[str, Any], text: str, at: int) -> str:
    """Return the board of a state as in position strings. Raise ParseError."""
    rows = data.get("board")
    try:
        written = "/".join("".join(_SIGNS[cell] for cell in row) for row in rows)  # type: ignore[union-attr]
    except (KeyError, TypeError):
        raise ParseError("not a board of the Tablut challenge", text=text, index=at, hint=_HINT) from None
    return re.sub("1+", lambda gap: str(len(gap[0])), written)


def _move_to(data: Mapping[str, Any], state: State, settled: Ruleset, text: str, at: int) -> int:
    """Return the move from a position to the next state. Raise ParseError if there is none."""
    wanted, config = _board(data, text, at), settled.config
    buffer = np.empty(settled.rules.kernel.MAX_MOVES, dtype=np.int64)
    for code in buffer[: settled.rules.kernel.legal(state, config, buffer)].tolist():
        after = state_after(settled, state, code)
        if after is not None and settled.write(after).split(" ", maxsplit=1)[0] == wanted:
            return int(code)
    hint = f"the position is {settled.write(state)}"
    raise ParseError("no legal move leads to this state", text=text, index=at, hint=hint)


def _take_remarks(data: Mapping[str, Any], draft: Draft, ply: int, text: str, at: int) -> list[Variation]:
    """Store the remarks of a state, and return its variations. Raise ParseError."""
    if mark := str(data.get("mark", "")):
        draft.mark(ply, mark)
    if comment := str(data.get("comment", "")):
        draft.comments[ply] = comment
    try:
        return [_variation(variation) for variation in data.get("variations", ())]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ParseError("not a variation", text=text, index=at, hint=_HINT) from None


def _variation(data: Mapping[str, Any]) -> Variation:
    marks, comments = (
        {int(ply): str(said) for ply, said in data.get(key, {}).items()} for key in ("marks", "comments")
    )
    inner = tuple(_variation(variation) for variation in data.get("variations", ()))
    moves = tuple(write_move(read_move(move)) for move in data["moves"])
    return Variation(int(data["ply"]), moves, marks, comments, inner)


def _of_variation(variation: Variation) -> dict[str, Any]:
    inner = [_of_variation(inner) for inner in variation.variations]
    data = {"ply": variation.ply, "moves": variation.moves, "marks": dict(variation.marks)}
    return {**data, "comments": dict(variation.comments), "variations": inner}


def write_game(game: GameText, ruleset: Ruleset) -> str:
    """Return one game as states, below a line with its variant, tags and result.

    Raise UnknownNameError for an unknown variant or option, ValueError for an illegal move.
    """
    settled = ruleset.rules.settle(game.variant or ruleset.variant.name, game.options)
    state, config = settled.read(game.position), settled.config
    head: dict[str, Any] = {"variant": settled.variant.name, "options": settled.overrides, "result": game.result}
    head |= {"position": game.position} if game.position is not None else {}
    lines = [{**head, "tags": dict(other_tags(game))}, _state(settled, state, game, 0)]
    for ply, move in enumerate(game.moves, 1):
        after = state_after(settled, state, read_move(move, state, config))
        if after is None:
            raise ValueError(f"illegal move {move!r} in {settled.write(state)}")
        state = after
        lines.append(_state(settled, state, game, ply))
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _state(settled: Ruleset, state: State, game: GameText, ply: int) -> dict[str, Any]:
    """Return the state after a ply, with the remarks on it."""
    board, side = settled.write(state).split(" ")[:2]
    rows = [re.sub("[1-9]", lambda gap: "1" * int(gap[0]), row) for row in board.split("/")]
    cells = [[_NAMES.get(sign, "EMPTY") for sign in row] for row in rows]
    data: dict[str, Any] = {"board": cells, "turn": "WHITE" if side == "d" else "BLACK"}
    data |= {"mark": game.marks[ply]} if ply in game.marks else {}
    data |= {"comment": game.comments[ply]} if game.comments.get(ply) else {}
    beside = [_of_variation(variation) for variation in game.variations if variation.ply == ply]
    return data | ({"variations": beside} if beside else {})


CHALLENGE: Final = GameFormat(
    "challenge", read_games, write_game, "logs and JSON states of the Tablut challenge of Bologna", starts
)
