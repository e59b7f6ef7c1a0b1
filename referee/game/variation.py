"""A bot's principal variation as stored in the record: the text of the bot, cut to a bounded length."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_MOVES = 12
MAX_LETTERS = 120

_MOVE = re.compile(r"[!-z|~]{1,40}")
"""Characters that the comment of a text record can hold."""


def kept(moves: Sequence[str]) -> str:
    """Return the first moves of a variation as text, up to a word that cannot be a move or exceeds the length limit."""
    found, length = [], -1
    for move in moves[:MAX_MOVES]:
        length += len(move) + 1
        if length > MAX_LETTERS or not _MOVE.fullmatch(move) or "]" in move:
            break
        found.append(move)
    return " ".join(found)
