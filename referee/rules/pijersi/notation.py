"""Texts of positions, setups and moves: canonical writers, and readers, which raise ParseError for invalid texts.

Legality is not checked; a spelling that names cubes or stacks must fit the board.
"""

from __future__ import annotations

import re

from referee.rules.core import ParseError
from referee.rules.pijersi.state import BOTTOMS, FULL, HALF, PHASE, SWAP, SWAPPING, pieces_of, state_of
from referee.rules.pijersi.tables import CELL_NUMBERS, ROW_LENGTHS, ROWS, swap_cells, turn_cells
from referee.rules.rules import Config, Notation, State

_CELL = "[a-g][1-7]"
_RUN = re.compile(rf"({_CELL})({_CELL})({_CELL})?")
_HUMAN = re.compile(rf"({_CELL})([-=])({_CELL})!?(?:([-=])({_CELL})!?)?")
_SWAP = re.compile(rf"\([ \t]*(?:({_CELL})[ \t]*({_CELL})[ \t]*)?\)")
_TOKEN = re.compile(r"[1-9]|[RPSWrpsw][RPSWrpsw-]")
_FIELD = re.compile(r"[^ ]+")
_NUMBER = re.compile(r"[0-9]{1,9}")
_LABEL = re.compile(r"([a-g])([1-9])([1-9])?:")
_CONTENT = re.compile(r"\(([RPSWrpsw])([RPSWrpsw])\)|([RPSWrpsw])")

SWAP_PHASE = 2
"""Index of the option of that name in a config."""
_ROW_LETTERS = str.maketrans("ABCDEFG", "abcdefg")
"""In a setup capitals distinguish the owners of cubes only, so row letters are converted to lower case."""

_SHAPE = "write <board> <w|b> <plies since a capture> <turn number>, and swap in the swap phase"


# -- positions -------------------------------------------------------------------------------------------------------


def _checked(cubes: str, cell: str, text: str, index: int) -> str:
    """Return a cell's cubes (bottom first) if they form a valid stack. Raise ParseError."""
    if cubes not in (cubes.upper(), cubes.lower()):
        raise ParseError(f"two colours in one stack at {cell}", text=text, index=index, hint="a stack has one owner")
    if cubes[-1] in "Ww" and cubes[0] not in "Ww":
        hint = "under a wise only another wise is allowed"
        raise ParseError(f"wise on top of a {cubes[0].upper()} at {cell}", text=text, index=index, hint=hint)
    return cubes


def _read_row(content: str, row: int, pieces: dict[str, str], text: str, start: int) -> None:
    length, column, index = ROW_LENGTHS[row], 0, 0
    while index < len(content):
        token = _TOKEN.match(content, index)
        if token is None:
            hint = "a cube is R-, a stack WR (bottom first), a digit 1..7 a run of empty cells"
            raise ParseError("unreadable cell", text=text, index=start + index, hint=hint)
        word = token[0]
        if not word.isdigit():
            cell = f"{ROWS[row]}{column + 1}"
            pieces[cell] = _checked(word.rstrip("-"), cell, text, start + index)
        column += int(word) if word.isdigit() else 1
        if column > length:
            raise ParseError(f"row {ROWS[row]} is too long", text=text, index=start + index, hint=f"{length} cells")
        index = token.end()
    if column < length:
        hint = f"it has {length} cells, not {column}"
        raise ParseError(f"row {ROWS[row]} is too short", text=text, index=start + index, hint=hint)


def read_position(text: str, config: Config) -> State:
    """Return the state of a position in PSN, the format of existing engines. Cube counts are not checked.

    A setup in positional notation (`a16:RPSRPS / …`) is accepted too: White is to move, and begins the swap phase if
    the rules have one.
    """
    if ":" in text:
        text = read_setup(text) + (" swap" if config is not None and config[SWAP_PHASE] else "")
    fields = list(_FIELD.finditer(text))
    if len(fields) not in (4, 5):
        raise ParseError(f"{len(fields)} fields instead of 4", text=text, index=len(text), hint=_SHAPE)
    contents = fields[0][0].split("/")
    if len(contents) != 7:
        raise ParseError(f"{len(contents)} rows, not 7", text=text, index=fields[0].start(), hint="seven rows, g first")
    pieces: dict[str, str] = {}
    start = fields[0].start()
    for row, content in zip(range(6, -1, -1), contents, strict=True):
        _read_row(content, row, pieces, text, start)
        start += len(content) + 1
    if fields[1][0] not in ("w", "b"):
        raise ParseError("invalid side to move", text=text, index=fields[1].start(), hint="w or b")
    for field, minimum in ((fields[2], 0), (fields[3], 1)):
        if not _NUMBER.fullmatch(field[0]) or int(field[0]) < minimum:
            hint = f"a number from {minimum}, at most nine digits; {_SHAPE}"
            raise ParseError("invalid counter", text=text, index=field.start(), hint=hint)
    if len(fields) == 5 and fields[4][0] != "swap":
        raise ParseError("invalid fifth field", text=text, index=fields[4].start(), hint="swap, or nothing")
    if len(fields) == 5 and int(fields[2][0]):
        raise ParseError(
            "the count of plies is not 0 in the swap phase",
            text=text,
            index=fields[2].start(),
            hint="write 0 before swap",
        )
    return state_of(
        pieces,
        side=int(fields[1][0] == "b"),
        swapping=len(fields) == 5,
        half=int(fields[2][0]),
        full=int(fields[3][0]),
    )


def write_position(state: State, config: Config) -> str:
    pieces = pieces_of(state)
    rows = []
    for row in range(6, -1, -1):
        written, gap = "", 0
        for column in range(1, ROW_LENGTHS[row] + 1):
            cubes = pieces.get(f"{ROWS[row]}{column}")
            if cubes is None:
                gap += 1
                continue
            written += (str(gap) if gap else "") + cubes.ljust(2, "-")
            gap = 0
        rows.append(written + (str(gap) if gap else ""))
    side = "b" if state[PHASE] & 1 else "w"
    tail = " swap" if state[PHASE] & SWAPPING else ""
    return f"{'/'.join(rows)} {side} {int(state[HALF])} {int(state[FULL])}{tail}"


# -- setups ----------------------------------------------------------------------------------------------------------


def _read_item(label: re.Match[str], content: str, pieces: dict[str, str], text: str, places: list[int]) -> None:
    """Add one item to the board: `label` and the content up to the next label. Raise ParseError."""
    index = places[label.start()]
    row, name = ROWS.index(label[1]), label[0][:-1]
    first, last = int(label[2]), int(label[3] or label[2])
    if label[3] and last <= first:
        raise ParseError(f"invalid range {name}", text=text, index=index, hint="write the lower column first, as a16")
    held, here = [], 0
    while here < len(content):
        match = _CONTENT.match(content, here)
        if match is None:
            hint = "cubes are R P S W, a stack (RW) with its top first; items begin with a label as a1: or a16:"
            raise ParseError("unreadable content", text=text, index=places[label.end() + here], hint=hint)
        held.append(match[3] or match[2] + match[1])
        here = match.end()
    if not label[3] and len(held) == 2 and len(content) == 2:
        held = [held[1] + held[0]]
    if len(held) != last - first + 1:
        problem = f"{name}: names {last - first + 1} cells but {len(held)} contents follow"
        raise ParseError(problem, text=text, index=index, hint="write a stack in a range as (RW)")
    for column, cubes in enumerate(held, start=first):
        cell = f"{label[1]}{column}"
        if column > ROW_LENGTHS[row] or cell in pieces:
            hint = f"row {label[1]} has {ROW_LENGTHS[row]} cells, each named once"
            raise ParseError(f"unknown or repeated cell {cell}", text=text, index=index, hint=hint)
        pieces[cell] = _checked(cubes, cell, text, index)


def read_setup(text: str) -> str:
    """Convert a setup in positional notation (see "Notation" in RULES.md) to a position string. Raise ParseError."""
    places = [place for place, letter in enumerate(text) if letter not in " \t\r\n/"]
    packed = "".join(text[place] for place in places).translate(_ROW_LETTERS)
    labels = list(_LABEL.finditer(packed))
    if not labels or labels[0].start():
        raise ParseError("a setup starts with a label", text=text, hint="write a16:RPSRPS / b13:PSR / b4:(WW)")
    pieces: dict[str, str] = {}
    ends = [label.start() for label in labels[1:]] + [len(packed)]
    for label, end in zip(labels, ends, strict=True):
        _read_item(label, packed[label.end() : end], pieces, text, places)
    return write_position(state_of(pieces), None)  # type: ignore[arg-type]


def write_setup(state: State) -> str:
    """Return the cubes of a position in positional notation, White's rows first: `a16:RPSRPS / b17:PSR(WW)SRP`."""
    pieces = pieces_of(state)
    items = []
    for row, length in zip(ROWS, ROW_LENGTHS, strict=True):
        column = 1
        while column <= length:
            first, content = column, ""
            while (cubes := pieces.get(f"{row}{column}")) is not None:
                content += cubes if len(cubes) == 1 else f"({cubes[::-1]})"
                column += 1
            if content:
                items.append(f"{row}{first}{column - 1 if column - 1 > first else ''}:{content}")
            column += 1
    return " / ".join(items)


# -- moves -----------------------------------------------------------------------------------------------------------


def _holds(state: State, cell: str) -> int:
    bit = 1 << CELL_NUMBERS[cell]
    top = any(int(state[place]) & bit for place in range(BOTTOMS))
    return top + any(int(state[BOTTOMS + role]) & bit for role in range(4))


def _is_own_single(state: State, cell: str) -> bool:
    own = 4 * (int(state[PHASE]) & 1)
    bit = 1 << CELL_NUMBERS[cell]
    return _holds(state, cell) == 1 and any(int(state[own + role]) & bit for role in range(4))


def _code(start: str, mid: str, end: str | None) -> int:
    third = CELL_NUMBERS[end] + 1 if end else 0
    return CELL_NUMBERS[start] << 12 | CELL_NUMBERS[mid] << 6 | third


def _on_board(found: re.Match[str], groups: tuple[int, ...], text: str) -> None:
    for group in groups:
        if found[group] is not None and found[group] not in CELL_NUMBERS:
            hint = "rows a c e g have six cells, b d f seven"
            raise ParseError(f"unknown cell {found[group]}", text=text, index=found.start(group), hint=hint)


def _read_human(match: re.Match[str], text: str, state: State) -> int:
    """Return the code of `a4-b5=c4`, `b4=d4`, `b4-c4`, `d3=f2-g1`. Raise ParseError if it contradicts the board."""
    start, sign, mid, second, end = match.groups()
    stack = _holds(state, start) == 2
    if sign == "=" and not stack:
        raise ParseError(f"no stack on {start}", text=text, index=match.start(2), hint=f"write {start}-{mid}")
    if second is None:
        if sign == "=":
            return _code(start, mid, mid)
        return _code(start, start, mid) if stack else _code(start, mid, None)
    if second == sign:
        hint = "one part of a turn is a cube (-), the other a stack (=)"
        raise ParseError(f"{sign} is used twice", text=text, index=match.start(4), hint=hint)
    if (sign == "-") != _is_own_single(state, mid):
        hint = "s-m=e climbs an own single cube on m, s=m-e moves a stack to m"
        raise ParseError(f"{start}{sign}{mid} does not fit the board", text=text, index=match.start(3), hint=hint)
    return _code(start, mid, end)


def read_move(text: str, state: State, config: Config) -> int:
    """Return the code of a turn in the notation of engines or of people, or of a swap. Case does not matter.

    Raise ParseError.
    """
    lower = text.lower() if text.isascii() else text
    swap = _SWAP.fullmatch(lower)
    if swap is not None:
        if swap[1] is None:
            return SWAP
        _on_board(swap, (1, 2), text)
        low, high = sorted((CELL_NUMBERS[swap[1]], CELL_NUMBERS[swap[2]]))
        if low == high:
            raise ParseError(
                "a cube cannot be swapped with itself", text=text, index=swap.start(2), hint="write () to pass"
            )
        return SWAP | low << 6 | high
    run = _RUN.fullmatch(lower)
    if run is not None:
        _on_board(run, (1, 2, 3), text)
        return _code(run[1], run[2], run[3])
    human = _HUMAN.fullmatch(lower)
    if human is not None:
        _on_board(human, (1, 3, 5), text)
        return _read_human(human, text, state)
    index = next((place for place, letter in enumerate(text) if letter not in "abcdefg1234567-=!() "), len(text))
    hint = "write a4b5c4, a4-b5=c4, b4=d4 or, in the swap phase, (a1b7) or ()"
    raise ParseError("unreadable move", text=text, index=index, hint=hint)


def write_move(code: int) -> str:
    if code >= SWAP:
        low, high = swap_cells(code)
        return "()" if low == high else f"({low}{high})"
    return "".join(turn_cells(code))


def display_move(code: int, state: State, config: Config) -> str:
    """Return the move as people write it: `-` moves a cube, `=` a stack, `!` captures."""
    if code >= SWAP:
        return write_move(code)
    start, mid, end = turn_cells(code)
    foe = 4 - 4 * (int(state[PHASE]) & 1)
    enemies = sum(int(state[foe + role]) for role in range(4))

    def landing(cell: str) -> str:
        return f"{cell}!" if enemies >> CELL_NUMBERS[cell] & 1 else cell

    if not end:
        return f"{start}-{landing(mid)}"
    if mid == start:
        return f"{start}-{landing(end)}"
    if _is_own_single(state, mid):
        return f"{start}-{mid}={landing(end)}"
    return f"{start}={landing(mid)}" + ("" if end == mid else f"-{landing(end)}")


NOTATION = Notation(
    read_position=read_position,
    write_position=write_position,
    read_move=read_move,
    write_move=write_move,
    display_move=display_move,
    pass_move=SWAP,
    read_setup=read_setup,
)
