"""A bot's score as one number."""

from __future__ import annotations

from protocol.messages import Info

WIN_SCORE = 30_000


def centipawns(info: Info) -> int | None:
    """Return a bot's score in centipawns; a forced win in n plies is 30,000 - n, a forced loss the negative of it."""
    if info.score is None or info.score_kind == "cp":
        return info.score
    return WIN_SCORE - info.score if info.score >= 0 else -WIN_SCORE - info.score
