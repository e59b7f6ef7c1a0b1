"""Ratings: pools, leaderboards, changes by game."""

from __future__ import annotations

from datetime import datetime

from arena.api.schemas.word import Out


class PoolItem(Out):
    """A set of comparable ratings, and its number of rated games."""

    pool: str
    family: str
    games: int


class LeaderboardLine(Out):
    """A version's line in a leaderboard. `rank` is null while the rating is provisional; `place` counts all lines.

    `conservative` = mu - 3 sigma is the sort key. `beats_next` is the probability of being stronger than the next line.
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
    """A version's rating in one pool."""

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
    """Change of a rating by one game; `points` is the version's score in it."""

    commit_number: int
    game_id: str
    finished_at: datetime | None
    opponent: str
    points: float
    mu_before: float
    sigma_before: float
    mu: float
    sigma: float
