"""The tables of problems. They were there before features had chains of revisions, so they are in that of the core."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Index, Text, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.documents.words import Side
from arena.store.base.fields import created, document, moment, number, word


class StoredProblem(SQLModel, table=True):
    """A problem: a position in which the side to move is to win, and its rating against the people who try it.

    `state` is `waiting` until the solver has examined the problem, then `accepted`, or `refused`: the field `problem`
    says why. A `removed` one is kept only for the ratings of people who tried it. `digest` is the SHA-256 of position,
    rules and condition, and prevents duplicates. `max_moves` is the length of the longest win that the author allows,
    `moves` the proved length. `tree` has all solutions (see `referee.solver.tree`). `month`, such as `2026-11`, makes
    it the problem of that month. `games` counts rated first attempts, `wins` those that failed.
    """

    __tablename__ = "problems"
    __table_args__ = (
        Index("ix_problems_state_family", "state", "family", "id"),
        Index("ix_problems_family_mu", "family", "state", "mu", "id"),
    )
    id: int = number()
    digest: str = Field(unique=True, max_length=64)
    family: str = Field(max_length=32)
    variant: str = Field(max_length=120)
    options: dict[str, Any] = document(dict)
    position: str = Field(sa_column=Column(Text, nullable=False))
    side: Side = word(8)
    condition: str = Field(default="", max_length=60)
    max_moves: int
    title: str = Field(default="", max_length=80)
    text: str = Field(default="", sa_column=Column(Text, nullable=False))
    source: str = Field(default="", max_length=80)
    state: str = Field(default="waiting", max_length=8)
    problem: str = ""
    moves: int | None = Field(default=None, index=True)
    is_unique: bool = False
    is_quiet: bool = False
    tries: int = 0
    level: str = Field(default="", max_length=8, index=True)
    tree: dict[str, Any] = document(dict)
    month: str | None = Field(default=None, unique=True, max_length=7)
    mu: float
    sigma: float
    games: int = 0
    wins: int = 0
    opposition: float = 0.0
    created_by: int | None = Field(default=None, foreign_key="users.id", index=True)
    created_at: datetime = created()
    accepted_at: datetime | None = moment(nullable=True)


class ProblemAttempt(SQLModel, table=True):
    """The first attempt of a user at a problem, which is the only rated one.

    Attempts are rated in the order of `id`: an attempt gets its id while its problem and its user are locked.
    """

    __tablename__ = "problem_attempts"
    __table_args__ = (UniqueConstraint("user_id", "problem_id"),)
    id: int = number()
    problem_id: int = Field(foreign_key="problems.id", index=True)
    user_id: int = Field(foreign_key="users.id")
    is_solved: bool
    mu_before: float
    mu: float
    attempted_at: datetime = created()


class DailySolution(SQLModel, table=True):
    """A day (UTC, such as `2026-11-30`) on which a user solved the problem of the day of a family."""

    __tablename__ = "problem_days"
    user_id: int = Field(primary_key=True, foreign_key="users.id")
    family: str = Field(primary_key=True, max_length=32)
    day: str = Field(primary_key=True, max_length=10)
    problem_id: int = Field(foreign_key="problems.id")


class SolverRating(SQLModel, table=True):
    """The rating of a user against the problems of a family, in the pool `FAMILY/problems`.

    The columns mean the same as in `VersionRating`.
    """

    __tablename__ = "solver_ratings"
    __table_args__ = (Index("ix_solver_ratings_pool_conservative", "pool", "conservative", "user_id"),)
    pool: str = Field(primary_key=True, max_length=200)
    user_id: int = Field(primary_key=True, foreign_key="users.id", index=True)
    mu: float
    sigma: float
    conservative: float
    games: int
    wins: int
    opposition: float = 0.0
