"""The reason that a turn of Pijersi is not legal, in the words of players."""

from __future__ import annotations

from referee.rules.pijersi.state import ROLE_NAMES, SWAP, pieces_of
from referee.rules.pijersi.tables import CELL_NUMBERS, coordinates, turn_cells
from referee.rules.rules import Config, State

_TAKES = {"R": "S", "S": "P", "P": "R"}


def refuse(code: int, state: State, config: Config) -> str:
    """Return why the turn of a cube or a stack of the side to move is not legal; empty if nothing here explains it."""
    if code >= SWAP:
        return ""
    pieces = pieces_of(state)
    start, mid, last = turn_cells(code)
    end = last or mid
    held, met = pieces[start], pieces.get(mid, "")
    is_joined = mid not in (start, end) and len(met) == 1 and met.isupper() == held.isupper()
    if last and not is_joined and len(held) == 1:
        return f"no stack is on {start}"
    if not last or mid == start:
        return _refuse_cube(held[-1], start, end, pieces)
    if is_joined:
        left = pieces | {start: held[:-1], mid: met + held[-1]}
        return _refuse_cube(held[-1], start, mid, pieces) or _refuse_stack(met + held[-1], mid, end, left)
    why = _refuse_stack(held, start, mid, pieces)
    return why or ("" if end == mid else _refuse_cube(held[-1], mid, end, pieces | {start: "", mid: held}))


def _refuse_cube(cube: str, start: str, end: str, pieces: dict[str, str]) -> str:
    met = pieces.get(end, "")
    if _distance(start, end) != 1:
        return f"{start} and {end} are not neighbours"
    if met and met.isupper() == cube.isupper():
        if len(met) == 2:
            return f"two cubes are on {end} already"
        return "only a wise cube may lie under a wise cube" if cube in "Ww" and met not in "Ww" else ""
    return _refuse_capture(cube, met)


def _refuse_stack(stack: str, start: str, end: str, pieces: dict[str, str]) -> str:
    met = pieces.get(end, "")
    between = _between(start, end)
    if _distance(start, end) != 1 and not between:
        return "a stack moves one or two cells in a straight line"
    if pieces.get(between):
        return f"the piece on {between} is in the way"
    if met and met.isupper() == stack.isupper():
        return f"a stack may not go to {end}, where a cube of yours is"
    return _refuse_capture(stack[-1], met)


def _refuse_capture(cube: str, met: str) -> str:
    top = met[-1:].upper()
    if not top or _TAKES.get(cube.upper()) == top:
        return ""
    return f"{ROLE_NAMES[cube.upper()]} cannot take {ROLE_NAMES[top]}"


def _distance(start: str, end: str) -> int:
    (x, y), (a, b) = (coordinates(CELL_NUMBERS[cell]) for cell in (start, end))
    return max(abs(y - b), (abs(x - a) + abs(y - b)) // 2)


def _between(start: str, end: str) -> str:
    """Return the cell between two that are two steps apart in a straight line; empty for others."""
    (x, y), (a, b) = (coordinates(CELL_NUMBERS[cell]) for cell in (start, end))
    if (abs(x - a), abs(y - b)) not in ((4, 0), (2, 2)):
        return ""
    middle = ((x + a) // 2, (y + b) // 2)
    return next(name for name, cell in CELL_NUMBERS.items() if coordinates(cell) == middle)
