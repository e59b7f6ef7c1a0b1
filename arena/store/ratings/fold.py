"""The effect of one game on two ratings: one function, used by commits and by rebuilds alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from referee.ratings import trueskill
from referee.rules import load
from referee.rules.core import Kind


@dataclass(frozen=True, slots=True)
class FoldedGame:
    """The fields of a game that `fold` uses."""

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
        """True if the game changes ratings: it is rated, not void, and between two different versions."""
        return self.is_rated and self.termination_class != Kind.VOID.value and self.first_id != self.second_id


@dataclass(frozen=True, slots=True)
class FoldedRating:
    """One version's rating in one pool with its additional columns (see `arena.store.base.models.VersionRating`)."""

    rating: trueskill.TrueSkillRating
    forfeits: int = 0
    opposition: float = 0.0
    last: int = 0


@dataclass(frozen=True, slots=True)
class FoldedChange:
    """One version's rating before and after a game."""

    version_id: int
    before: FoldedRating
    after: FoldedRating


class RatingTable(Protocol):
    """The store of ratings that `fold` reads and writes."""

    def line(self, pool: str, version_id: int) -> FoldedRating | None:
        """Return the current rating, None for a version new to the pool."""

    def follows(self, version_id: int) -> int | None:
        """Return the predecessor of a version, if any."""

    def put(self, pool: str, version_id: int, line: FoldedRating) -> None:
        """Set the rating."""


def fold(table: RatingTable, game: FoldedGame, update: trueskill.Update = trueskill.update) -> tuple[FoldedChange, ...]:
    """Apply a game to both ratings; return the changes of the first and second side, or none if it does not count."""
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
) -> FoldedChange:
    after = FoldedRating(rating, mine.forfeits + has_forfeited, mine.opposition + theirs.rating.mu, game.commit_number)
    return FoldedChange(version_id, mine, after)


def _present_line(table: RatingTable, pool: str, version_id: int) -> FoldedRating:
    """Return the current rating; a version without one starts from its predecessor's mu with a wide sigma."""
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
