"""What a game does to two ratings: the one fold, of live commits and of rebuilds alike. Knows no SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from referee.ratings import trueskill
from referee.rules import load
from referee.rules.core import Kind


@dataclass(frozen=True, slots=True)
class FoldedGame:
    """What the fold must know of a game. `commit_number` is its commit number."""

    game_id: str
    commit_number: int
    family: str
    pool: str
    first_id: int
    second_id: int
    winner: str | None
    termination_class: str
    is_rated: bool

    @property
    def counts(self) -> bool:
        """Whether it moves ratings: rated, not void, between two versions."""
        return self.is_rated and self.termination_class != Kind.VOID.value and self.first_id != self.second_id


@dataclass(frozen=True, slots=True)
class FoldedRating:
    """One version's rating in one pool, with what the arena keeps beside it (see `arena.store.base.models.Rating`)."""

    rating: trueskill.TrueSkillRating
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
    """Where the fold finds the lines, and puts them."""

    def line(self, pool: str, version_id: int) -> FoldedRating | None:
        """The present line, None for a version new to the pool."""

    def follows(self, version_id: int) -> int | None:
        """The version this one continues, if any."""

    def put(self, pool: str, version_id: int, line: FoldedRating) -> None:
        """The line from now on."""


def fold(table: RatingTable, game: FoldedGame, update: trueskill.Update = trueskill.update) -> tuple[Change, ...]:
    """Put both lines after a game into the table, first's before second's; nothing for one that does not count."""
    if not game.counts:
        return ()
    one, two = (_present_line(table, game.pool, version) for version in (game.first_id, game.second_id))
    points = {"first": 1.0, "second": 0.0}.get(game.winner or "", 0.5)
    first, second = update(one.rating, two.rating, points, load(game.family).draw_probability)
    is_forfeit = game.termination_class == Kind.FORFEIT.value
    changes = (
        _change(game, game.first_id, one, two, rating=first, has_forfeited=is_forfeit and points == 0),
        _change(game, game.second_id, two, one, rating=second, has_forfeited=is_forfeit and points == 1),
    )
    for change in changes:
        table.put(game.pool, change.version_id, change.after)
    return changes


def _change(
    game: FoldedGame,
    version_id: int,
    mine: FoldedRating,
    theirs: FoldedRating,
    *,
    rating: trueskill.TrueSkillRating,
    has_forfeited: bool,
) -> Change:
    after = FoldedRating(rating, mine.forfeits + has_forfeited, mine.opposition + theirs.rating.mu, game.commit_number)
    return Change(version_id, mine, after)


def _present_line(table: RatingTable, pool: str, version_id: int) -> FoldedRating:
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
    return FoldedRating(trueskill.TrueSkillRating())
