"""Ratings: pools, leaderboards, what games did."""

from __future__ import annotations

from datetime import datetime

from arena.api.schemas.word import Out


class PoolItem(Out):
    """A set of comparable ratings, and how many rated games it has."""

    pool: str
    family: str
    games: int


class LeaderboardLine(Out):
    """One version in one pool. `rank` is null while the rating is provisional; `place` counts all lines.

    `conservative` = mu - 3 sigma is the sorting value; `beats_next` the probability to be better than the next line.
    """

    place: int
    rank: int | None
    name: str
    bot: str
    number: int
    owner: str
    state: str
    mu: float
    sigma: float
    conservative: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    forfeits: int
    opponents: float
    is_provisional: bool
    beats_next: float | None


class PoolRating(Out):
    """One version's rating in one pool."""

    pool: str
    name: str
    mu: float
    sigma: float
    conservative: float
    games: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    is_provisional: bool


class ChangeItem(Out):
    """What one game did to a rating; `points` is what the version scored."""

    commit_number: int
    game_id: str
    finished_at: datetime | None
    opponent: str
    points: float
    mu_before: float
    sigma_before: float
    mu: float
    sigma: float
