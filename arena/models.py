"""The tables of the arena. One schema for SQLite and PostgreSQL; refuses to know any query (see `arena.store`)."""

from __future__ import annotations

from sqlmodel import Field, SQLModel


class Game(SQLModel, table=True):
    """One recorded game, void ones included. `sequence` is the order of commits: ratings are folded in it.

    `record` is the whole `GameRecord` as JSON; the other columns are what lists and filters need.
    """

    sequence: int | None = Field(default=None, primary_key=True)
    id: str = Field(unique=True, max_length=32)
    event: str = Field(index=True)
    family: str = Field(index=True)
    pool: str = Field(index=True)
    first: str
    second: str
    winner: str | None
    termination: str
    kind: str
    plies: int
    finished: str
    record: str


class Rating(SQLModel, table=True):
    """One bot's rating in one pool, as of the game with commit sequence `last`."""

    pool: str = Field(primary_key=True)
    bot: str = Field(primary_key=True)
    mu: float
    sigma: float
    conservative: float = Field(index=True)
    games: int
    wins: int
    draws: int
    losses: int
    last: int
