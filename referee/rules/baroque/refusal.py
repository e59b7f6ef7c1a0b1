"""The reason that a move of Baroque chess is not legal, in the words of players."""

from __future__ import annotations

from referee.rules.baroque.notation import pieces_of, square_name, squares_of
from referee.rules.baroque.state import LETTERS, NAMES
from referee.rules.rules import Config, State


def refuse(code: int, state: State, config: Config) -> str:
    """Return why the move of a piece of the side to move is not legal; empty if nothing here explains it."""
    from referee.rules.baroque import kernel

    pieces = pieces_of(state)
    origin, end = divmod(code, 64)
    letter = pieces[origin].upper()
    name = NAMES[LETTERS.index(letter)]
    if origin != end and origin in squares_of(int(kernel.frozen(state, config))):
        return f"the {name} on {square_name(origin)} is frozen"
    return _refuse_kind(letter, origin, end) or _refuse_way(letter, origin, end, pieces)


def _refuse_kind(letter: str, origin: int, end: int) -> str:
    """Return why pieces of this kind do not move so, on a board without other pieces."""
    name = NAMES[LETTERS.index(letter)]
    up, right = end // 8 - origin // 8, end % 8 - origin % 8
    if origin == end:
        return f"the {name} on {square_name(origin)} may not remove itself"
    if letter == "K" and max(abs(up), abs(right)) > 1:
        return "the king moves one square"
    if letter == "P" and up and right:
        return "the pincer moves like a rook"
    if up and right and abs(up) != abs(right):
        return f"{square_name(origin)} and {square_name(end)} are not on one line"
    return ""


def _refuse_way(letter: str, origin: int, end: int, pieces: dict[int, str]) -> str:
    """Return which piece is in the way; else only a capture of the own king is left as the reason."""
    step = (end - origin) // max(abs(end // 8 - origin // 8), abs(end % 8 - origin % 8))
    for square in range(origin + step, end, step):
        if square in pieces:
            name = NAMES[LETTERS.index(letter)]
            cell = square_name(square)
            return f"the {name} cannot leap over {cell}" if letter in "NB" else f"the piece on {cell} is in the way"
    takes = letter == "K" and end in pieces and pieces[end].isupper() != pieces[origin].isupper()
    return f"{square_name(end)} is not empty" if end in pieces and not takes else "your king could be taken"
