"""What one game does to two ratings: the single step that live recording and rebuilding share. Knows no SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from referee.ratings import trueskill
from referee.rules import load
from referee.rules.core import Kind


@dataclass(frozen=True, slots=True)
class FoldedGame:
    """What the fold must know of a game. `committed` is its commit number."""

    game_id: str
    committed: int
    family: str
    pool: str
    first_id: int
    second_id: int
    winner: str | None
    kind: str
    is_rated: bool

    @property
    def counts(self) -> bool:
        """Whether it moves ratings: rated, not void, between two versions."""
        return self.is_rated and self.kind != Kind.VOID.value and self.first_id != self.second_id


@dataclass(frozen=True, slots=True)
class FoldedRating:
    """One version's rating in one pool, with what the arena keeps beside it (see `arena.store.models.Rating`)."""

    rating: trueskill.Rating
    forfeits: int = 0
    opposition: float = 0.0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """One version's line before and after a game."""

    version_id: int
    before: FoldedRating
    after: FoldedRating


class RatingTable(Protocol):
    """Where the fold finds what it needs."""

    def line(self, pool: str, version_id: int) -> FoldedRating | None:
        """The present line, None for a version new to the pool."""

    def follows(self, version_id: int) -> int | None:
        """The version this one continues, if any."""


def step(table: RatingTable, game: FoldedGame) -> tuple[Change, Change]:
    """Both lines after a game that counts."""
    one, two = (present_line(table, game.pool, version) for version in (game.first_id, game.second_id))
    points = {"first": 1.0, "second": 0.0}.get(game.winner or "", 0.5)
    chance = load(game.family).draw_probability
    first, second = trueskill.update(one.rating, two.rating, points, chance)
    is_forfeit = game.kind == Kind.FORFEIT.value
    return (
        _change(game, game.first_id, one, two, rating=first, has_forfeited=is_forfeit and points == 0),
        _change(game, game.second_id, two, one, rating=second, has_forfeited=is_forfeit and points == 1),
    )


def _change(
    game: FoldedGame,
    version_id: int,
    mine: FoldedRating,
    theirs: FoldedRating,
    *,
    rating: trueskill.Rating,
    has_forfeited: bool,
) -> Change:
    after = FoldedRating(rating, mine.forfeits + has_forfeited, mine.opposition + theirs.rating.mu, game.committed)
    return Change(version_id, mine, after)


def present_line(table: RatingTable, pool: str, version_id: int) -> FoldedRating:
    """The present line; a new one starts from the mu of the version it follows, with a wide sigma."""
    if line := table.line(pool, version_id):
        return line
    seen = {version_id}
    ancestor = table.follows(version_id)
    while ancestor is not None and ancestor not in seen:
        if line := table.line(pool, ancestor):
            return FoldedRating(trueskill.start(line.rating))
        seen.add(ancestor)
        ancestor = table.follows(ancestor)
    return FoldedRating(trueskill.Rating())
