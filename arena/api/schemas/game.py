"""Games, logs of bots, and void attempts."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from arena.api.schemas.word import Out, Side


class GameItem(Out):
    """A game in a list. `termination_class` is `rules`, `adjudication`, `forfeit` or `void`. `commit_number` orders all
    results.
    """

    id: str
    tournament_id: int
    sequence: int
    round: int
    pair: int
    family: str
    pool: str
    variant: str
    first: str
    second: str
    is_rated: bool
    state: Literal["planned", "queued", "running", "finished", "void", "cancelled"]
    attempt: int
    started_at: datetime | None
    finished_at: datetime | None
    commit_number: int | None
    winner: Literal["first", "second", "draw"] | None
    termination: str | None
    termination_class: str | None
    detail: str
    plies: int


class RatingStep(Out):
    """A rating before and after one game."""

    name: str
    mu_before: float
    sigma_before: float
    mu: float
    sigma: float


class GameResponse(GameItem):
    """A game with its spec and, once it is over, its record. The bots' standard error is left out."""

    spec: dict[str, Any]
    record: dict[str, Any] | None
    ratings: list[RatingStep]


class LogResponse(Out):
    """The tail of a bot's standard error in a game."""

    game_id: str
    side: Side
    name: str
    log: str
