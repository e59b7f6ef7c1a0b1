"""The public profile of a user."""

from __future__ import annotations

from arena.documents.rating import PoolRating
from arena.services import user


def rating(pool: str, name: str, conservative: float, *, is_provisional: bool = False) -> PoolRating:
    return PoolRating(pool, name, conservative + 3, 1.0, conservative, 9, 4, 1, 4, 0, is_provisional, version_id=1)


def test_best_of_each_pool_prefers_ranked_bots() -> None:
    lines = [
        rating("loa", "weak", 10.0),
        rating("loa", "new", 30.0, is_provisional=True),
        rating("loa", "strong", 20.0),
        rating("abalone", "first", 5.0, is_provisional=True),
        rating("abalone", "second", 7.0, is_provisional=True),
    ]
    assert [(best.pool, best.name) for best in user._best_of_each_pool(lines)] == [
        ("abalone", "second"),
        ("loa", "strong"),
    ]
