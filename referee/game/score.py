"""The score and the principal variation of a move, as stored in the record: the last exact score of the search as one
number, and the variation as the text of the bot, cut to a bounded length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from protocol.messages import Info

WIN_SCORE = 30_000
MAX_MOVES = 12
MAX_LETTERS = 120
_MOVE = re.compile(r"[!-z|~]{1,40}")
"""Characters that the comment of a text record can hold."""


def centipawns(info: Info) -> int | None:
    """Return a bot's score in centipawns; a forced win in n plies is 30,000 - n, a forced loss the negative of it.

    None for a bound and for a line of play other than the best: neither is the score of the move.
    """
    if info.score is None or not info.has_score:
        return None
    if info.score_kind == "cp":
        return info.score
    return WIN_SCORE - info.score if info.score > 0 else -WIN_SCORE - info.score  # 0: mated, as in UCI


def summary(latest_first: Iterable[Info]) -> Info | None:
    """Return what the lines of a search say of its move: the last exact score of the best line, its depth and PV.

    Nodes and time are those of the latest line. Without such a score there is none, whatever bounds were sent.
    """
    latest: Info | None = None
    for info in latest_first:
        latest = latest or info
        if info.has_score:
            if info is latest:
                return info
            return replace(info, nodes=latest.nodes or info.nodes, time_ms=latest.time_ms or info.time_ms)
    if latest is None:
        return None
    return replace(latest, score=None, bound="", multipv=1, pv=latest.pv if latest.multipv == 1 else ())


def kept_variation(moves: Sequence[str]) -> str:
    """Return the first moves of a variation as text, up to a word that cannot be a move or exceeds the length limit."""
    words, length = [], -1
    for move in moves[:MAX_MOVES]:
        length += len(move) + 1
        if length > MAX_LETTERS or not _MOVE.fullmatch(move) or "]" in move:
            break
        words.append(move)
    return " ".join(words)
