"""The line a bot expects, as it is kept with its move: what the bot wrote, within bounds. Refuses to know the rules."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_MOVES = 12
MAX_LETTERS = 120

_MOVE = re.compile(r"[!-z|~]{1,40}")
"""Nothing that a comment of a record could not hold."""


def kept(moves: Sequence[str]) -> str:
    """The beginning of a line as one text; it ends before what cannot be a move or would make it too long."""
    found, length = [], -1
    for move in moves[:MAX_MOVES]:
        length += len(move) + 1
        if length > MAX_LETTERS or not _MOVE.fullmatch(move) or "]" in move:
            break
        found.append(move)
    return " ".join(found)
