"""Analyses of games, requests for them, and the models by which scores become chances to win."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlmodel import Field, SQLModel

from arena.store.base.fields import blob, created, document, number


class Analysis(SQLModel, table=True):
    """The analysis of a game: figures for filters, and the whole as compressed JSON (`arena.analysis.game_analysis`).

    `game_id` is the id of a game played here or imported. `accuracy` is the accuracy of the less accurate side.
    """

    __tablename__ = "analyses"
    game_id: str = Field(primary_key=True, max_length=40)
    family: str = Field(max_length=32, index=True)
    engine: str = Field(max_length=80)
    nodes: int
    win_model: str = Field(max_length=40)
    blunders: int = Field(index=True)
    first_blunders: int
    second_blunders: int
    accuracy: float | None = Field(default=None, index=True)
    first_accuracy: float | None = None
    second_accuracy: float | None = None
    turning_points: int = Field(index=True)
    has_blown_win: bool = Field(index=True)
    analysed_at: datetime = created(index=True)
    data: bytes = blob()


class RequestedAnalysis(SQLModel, table=True):
    """A request to analyse a game (`game_id`) or a position (`question`: the game so far).

    When the analysis is done, the request for a game is deleted, and that for a position gets an `answer`. If the
    analysis fails, the request stays, and its field `problem` says why, so that it is not retried automatically.
    """

    __tablename__ = "analysis_requests"
    id: int = number()
    user_id: int | None = Field(default=None, foreign_key="users.id", index=True)
    game_id: str | None = Field(default=None, unique=True, max_length=40)
    question: dict[str, Any] = document(dict)
    nodes: int
    answer: dict[str, Any] = document(dict)
    is_done: bool = False
    problem: str = ""
    requested_at: datetime = created(index=True)


class StoredWinModel(SQLModel, table=True):
    """A win-probability model of a family, valid from `created_at` on: its scale and the data it was fitted to."""

    __tablename__ = "win_models"
    id: int = number()
    family: str = Field(max_length=32, index=True)
    scale: float
    games: int
    positions: int
    log_loss: float
    created_at: datetime = created()
