"""Void attempts at games."""

from __future__ import annotations

from datetime import datetime

from arena.api.schemas.word import Out


class VoidItem(Out):
    """A void attempt at a game: it failed through no fault of a bot."""

    id: int
    game_id: str
    tournament_id: int
    family: str
    first: str
    second: str
    attempt: int
    termination: str
    detail: str
    voided_at: datetime
