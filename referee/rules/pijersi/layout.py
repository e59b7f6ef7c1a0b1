"""Pijersi positions prepared for drawing: hexagons, cubes and stacks, with notes."""

from __future__ import annotations

from referee.rules.pijersi.state import HALF, NO_CAPTURE_LIMIT, PHASE, ROLE_NAMES, ROLES, SWAP, SWAPPING, pieces_of
from referee.rules.pijersi.tables import CELL_NAMES, coordinates, swap_cells, turn_cells
from referee.rules.rules import Board, Cell, Config, Effect, Mark, Piece, State

_GLYPHS = dict(zip(ROLES, "●■✂★", strict=True))
_OUTLINES = dict(zip(ROLES, "○□✄☆", strict=True))

PIECES = (
    *(Piece(role, f"white {ROLE_NAMES[role]}", "first", _OUTLINES[role]) for role in ROLES),
    *(Piece(role.lower(), f"black {ROLE_NAMES[role]}", "second", _GLYPHS[role]) for role in ROLES),
)

MARKS = (
    Mark("stack", "", "none"),
    Mark("goal", "has arrived"),
)

EMBLEM = (
    "M12 1.5l9.1 5.25v10.5L12 22.5l-9.1-5.25V6.75ZM12 5.5L6.4 8.75v6.5L12 18.5l5.6-3.25v-6.5Z"
    "M12 8.5l3 1.75v3.5l-3 1.75-3-1.75v-3.5Z"
)
"""A hexagon in a hexagon: a stack from above."""

_ROW_HEIGHT = 3**0.5 / 2


def _cell(number: int) -> Cell:
    x, y = coordinates(number)
    return Cell(CELL_NAMES[number], x / 2, y * _ROW_HEIGHT, "goal" if y in (0, 6) else "plain")


CELLS = tuple(_cell(number) for number in range(len(CELL_NAMES)))


def _count(pieces: dict[str, str], white: bool) -> str:
    cubes = "".join(held for held in pieces.values() if held.isupper() == white).upper()
    return ", ".join(f"{name} {cubes.count(role)}" for role, name in ROLE_NAMES.items() if role in cubes) or "no cubes"


def effect(code: int, before: State, after: State, config: Config) -> Effect:
    """Describe what a turn stacks, unstacks, takes or swaps."""
    if code >= SWAP:
        low, high = swap_cells(code)
        return Effect("swaps two cubes" if low != high else "swaps nothing")
    start, mid, last = turn_cells(code)
    end = last or mid
    stood = pieces_of(before)
    own = stood[start].isupper()

    def landing(words: str, cell: str) -> str:
        met = "" if cell == start else stood.get(cell, "")
        if not met or met.isupper() == own:
            return words if not met or "stack" in words.split() else f"{words}, onto {ROLE_NAMES[met.upper()]}"
        return f"{words}, takes {' on '.join(ROLE_NAMES[cube.upper()] for cube in reversed(met))}"

    friend = stood.get(mid, "")
    is_joined = mid != start and len(friend) == 1 and friend.isupper() == own
    if not last:
        return Effect(f"stacks on {mid}" if is_joined else landing("", mid).removeprefix(", "))
    if mid == start:
        return Effect(landing(f"unstacks to {end}", end))
    if is_joined:
        return Effect(f"stacks on {mid}, {landing(f'the stack goes to {end}', end)}")
    first = landing(f"the stack goes to {mid}", mid)
    return Effect(first if end == mid else f"{first}, {landing(f'unstacks to {end}', end)}")


def move_input(code: int, state: State) -> tuple[tuple[str, ...], ...]:
    """Return every cell of the turn, in order.

    Two kinds of turns have only a start and an end: a stack that moves once, and a cube that leaves its stack.
    If both are possible, the page asks which one is meant.
    """
    if code >= SWAP:
        first, second = swap_cells(code)
        return ((first, second), (second, first)) if first != second else ((),)
    start, mid, last = turn_cells(code)
    end = last or mid
    return ((start, end),) if mid in (start, end) else ((start, mid, end),)


def board(state: State, config: Config) -> Board:
    """Return the board with notes on the cubes left, the count towards the no-capture draw, and the swap phase.

    Labels are `stack` (two cubes) and `goal` (a cube that has won).
    """
    pieces = pieces_of(state)
    marks: dict[str, tuple[str, ...]] = {}
    for cell, cubes in pieces.items():
        won = cell[0] == ("g" if cubes.isupper() else "a") and cubes[-1] not in "Ww"
        words = ("stack",) * (len(cubes) == 2) + ("goal",) * won
        if words:
            marks[cell] = words
    notes = [f"White {_count(pieces, True)}", f"Black {_count(pieces, False)}"]
    limit = int(config[NO_CAPTURE_LIMIT])
    if state[HALF]:
        plies = "1 ply" if state[HALF] == 1 else f"{int(state[HALF])} plies"
        notes.append(f"{plies} without a capture" + (f" of {limit}" if limit else ""))
    if state[PHASE] & SWAPPING:
        notes.append("swap phase: exchange two single cubes, or pass")
    return Board(shape="hex", cells=CELLS, pieces=pieces, marks=marks, notes=tuple(notes))
