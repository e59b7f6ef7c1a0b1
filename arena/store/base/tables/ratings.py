"""The rating of a version in a pool, its change by each game, and rebuilds of both."""

from __future__ import annotations

from sqlalchemy import Index
from sqlmodel import Field, SQLModel


class VersionRating(SQLModel, table=True):
    """One version's rating in one pool after the game with commit number `last`.

    `opposition` is the sum of the opponents' mu before each game; divided by `games` it is the opponents' mean mu.
    `conservative`, mu - 3 sigma, is stored because leaderboards are sorted by it. `forfeits` are among the `losses`.
    """

    __tablename__ = "ratings"
    __table_args__ = (Index("ix_ratings_pool_conservative", "pool", "conservative", "version_id"),)
    pool: str = Field(primary_key=True, max_length=200)
    version_id: int = Field(primary_key=True, foreign_key="versions.id", index=True)
    mu: float
    sigma: float
    conservative: float
    games: int
    wins: int
    draws: int
    losses: int
    forfeits: int = 0
    opposition: float = 0.0
    last: int = 0
    credit: float = 0.0
    """Weight that chosen games against bots of other owners may still have (see `arena.store.ratings.fold`)."""


class RatingChange(SQLModel, table=True):
    """The effect of one game on one rating: a point of a rating plot.

    The counts and `opposition` are those of `VersionRating` after the game, so that past leaderboards are built
    without reading games.
    """

    __tablename__ = "rating_changes"
    __table_args__ = (Index("ix_rating_changes_version_pool_commit_number", "version_id", "pool", "commit_number"),)
    game_id: str = Field(primary_key=True, foreign_key="games.id", max_length=32)
    version_id: int = Field(primary_key=True, foreign_key="versions.id")
    pool: str = Field(max_length=200)
    commit_number: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    opposition: float
    mu_before: float
    sigma_before: float
    mu: float
    sigma: float


class Rebuild(SQLModel, table=True):
    """A running or interrupted rebuild of all ratings; it has computed the ratings up to the commit number `last`.

    `without` is the SHA-256 of the ids of excluded games, empty for none.
    """

    __tablename__ = "rebuilds"
    id: str = Field(primary_key=True, max_length=32)
    without: str = Field(default="", max_length=64)
    last: int = 0


class RebuiltChange(SQLModel, table=True):
    """A rating change that a rebuild corrects. The columns from `wins` on are NULL if the change must be deleted."""

    __tablename__ = "rebuilt_changes"
    rebuild_id: str = Field(primary_key=True, max_length=32)
    # Second, as rows are written in this order: keys in random order cost four times as much with a million games.
    commit_number: int = Field(primary_key=True)
    game_id: str = Field(primary_key=True, max_length=32)
    version_id: int = Field(primary_key=True)
    pool: str = Field(max_length=200)
    wins: int | None = None
    draws: int | None = None
    losses: int | None = None
    forfeits: int | None = None
    opposition: float | None = None
    mu_before: float | None = None
    sigma_before: float | None = None
    mu: float | None = None
    sigma: float | None = None
