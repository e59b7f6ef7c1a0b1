"""The reason that a move of Tablut is not legal, in the words of players."""

from __future__ import annotations

from referee.rules.rules import Config, State
from referee.rules.tablut.state import KING, KING_MAX_STEP, pieces_of
from referee.rules.tablut.tables import BASE_CELLS, CELLS, NAMES, SIZE, THRONE


def refuse(code: int, state: State, config: Config) -> str:
    """Return why the move of a piece of the side to move is not legal; empty if nothing here explains it."""
    pieces = pieces_of(state)
    start, end = divmod(code, CELLS)
    along, across = end // SIZE - start // SIZE, end % SIZE - start % SIZE
    if start == end or (along and across):
        return f"{NAMES[start]} and {NAMES[end]} are not on one line of the board"
    length = abs(along + across)
    step = (end - start) // length
    way = range(start + step, end, step)
    for cell in way:
        if cell in pieces:
            return f"the piece on {NAMES[cell]} is in the way"
    if end in pieces:
        return f"{NAMES[end]} is not empty"
    return _refuse_terrain(start == state[KING], end, way, length, config)


def _refuse_terrain(is_king: bool, end: int, way: range, length: int, config: Config) -> str:
    if is_king and 0 < config[KING_MAX_STEP] < length:
        return f"the king moves {int(config[KING_MAX_STEP])} cells at most"
    if end == THRONE:
        return f"no piece may stop on the throne, {NAMES[THRONE]}"
    if THRONE in way:
        return f"no piece may pass over the throne, {NAMES[THRONE]}"
    if BASE_CELLS.intersection((*way, end)):
        return "this piece may not enter a camp"
    return ""
