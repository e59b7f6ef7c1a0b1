"""The effect of one game on two ratings: one function, used by commits and by rebuilds alike, and its values as rows of
the database.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from sqlalchemy import Row

from arena.store.base.tables.ratings import VersionRating
from referee.ratings import trueskill
from referee.rules import load
from referee.rules.core import Kind

OTHERS_SHARE = 0.25
"""Weight that games against bots of other owners may have for each unit of weight of those against anchors.

Whatever other accounts lose on purpose, four times as much evidence is then honest (docs/explanation/ratings.md).
"""


class FoldedGame(NamedTuple):  # no dataclasses here: a rebuild makes some of each for every game
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
    meeting: int
    """Which rated game of the two owners on its day it is, if one of them chose the opponent; 0 if the arena did."""
    anchor: str | None
    """The side of the arena's own bot in a game with a chosen opponent: `first`, `second` or None."""

    @property
    def counts(self) -> bool:
        """True if the game changes ratings: it is rated, not void, and between two different versions."""
        # A version that plays itself says nothing of its strength, and its two changes would have one key.
        return self.is_rated and self.termination_class != Kind.VOID and self.first_id != self.second_id


_POINTS = {"first": 1.0, "second": 0.0}


class FoldedRating(NamedTuple):
    """One version's rating in one pool with its additional columns (see `VersionRating`)."""

    rating: trueskill.TrueSkillRating
    forfeits: int = 0
    opposition: float = 0.0
    last: int = 0
    credit: float = 0.0
    """Weight that further chosen games against bots of other owners may have."""


class FoldedChange(NamedTuple):
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
        """Set the rating after a game."""


class _Side(NamedTuple):
    """One version before a game. An anchor has the rating of the ladder instead of one that chosen games change."""

    version_id: int
    line: FoldedRating
    is_established: bool
    is_anchor: bool = False


def fold(table: RatingTable, game: FoldedGame, update: trueskill.Update = trueskill.update) -> tuple[FoldedChange, ...]:
    """Apply a game to both ratings; return the changes: of both, of one, or none."""
    if not game.counts:
        return ()
    first = _side(table, game, game.first_id, is_anchor=game.anchor == "first")
    second = _side(table, game, game.second_id, is_anchor=game.anchor == "second")
    points = _POINTS.get(game.winner or "", 0.5)
    # The nth game of two owners on a day counts 1/n: two accounts cannot raise a rating by repetition.
    weight = 1 / (game.meeting or 1)
    chance = load(game.family).draw_probability
    first_after, second_after = update(first.line.rating, second.line.rating, points, chance, weight)
    is_forfeit = game.termination_class == Kind.FORFEIT
    changes = []
    for mine, theirs, rating, score in (
        (first, second, first_after, points),
        (second, first, second_after, 1 - points),
    ):
        credit = _credit_after(game, mine, theirs, weight)
        if credit is None:
            continue
        if mine.is_anchor:
            # Its mu and sigma stay those of the ladder: only its results are counted.
            rating = trueskill.counted(mine.line.rating, mine.line.rating.mu, mine.line.rating.sigma, score)
        forfeits = mine.line.forfeits + (is_forfeit and score == 0)
        opposition = mine.line.opposition + theirs.line.rating.mu
        line = FoldedRating(rating, forfeits, opposition, game.commit_number, credit)
        table.put(game.pool, mine.version_id, line)
        changes.append(FoldedChange(mine.version_id, mine.line, line))
    return tuple(changes)


def _side(table: RatingTable, game: FoldedGame, version_id: int, *, is_anchor: bool) -> _Side:
    """Return a version before a game."""
    line = _present_line(table, game.pool, version_id)
    if not is_anchor:
        return _Side(version_id, line, not line.rating.is_provisional)
    # The pool `loa/zen/remote` is that of remote bots; their ladder is `loa/zen`, or else that of the family.
    ladder = table.line(game.pool.rpartition("/")[0], version_id) or table.line(game.family, version_id)
    if ladder is None:
        return _Side(version_id, line, is_established=False, is_anchor=True)
    rating = line.rating._replace(mu=ladder.rating.mu, sigma=ladder.rating.sigma)
    return _Side(version_id, line._replace(rating=rating), not ladder.rating.is_provisional, is_anchor=True)


def _credit_after(game: FoldedGame, mine: _Side, theirs: _Side, weight: float) -> float | None:
    """Return the credit of a version after a game; None if the game does not change its rating."""
    credit = mine.line.credit
    if not game.meeting or (mine.is_anchor and theirs.is_established):
        return credit
    # A fresh account costs nothing: a win against it proves nothing.
    if not theirs.is_established:
        return None
    if theirs.is_anchor:
        return credit + OTHERS_SHARE * weight
    return credit - weight if credit >= weight else None


def _present_line(table: RatingTable, pool: str, version_id: int) -> FoldedRating:
    """Return the current rating; a version without one starts from its predecessor's mu with a wide sigma."""
    if line := table.line(pool, version_id):
        return line
    # A version follows an earlier one, so this ends. Those in between may have played in other pools only.
    ancestor = table.follows(version_id)
    while ancestor is not None:
        if line := table.line(pool, ancestor):
            return FoldedRating(trueskill.start(line.rating))
        ancestor = table.follows(ancestor)
    return FoldedRating(trueskill.TrueSkillRating())


COUNTER = "commit"
"""Name of the counter that numbers commits."""


def line_of(row: VersionRating | Row[Any]) -> FoldedRating:
    """Convert a stored rating to the type that `fold` uses."""
    rating = trueskill.TrueSkillRating(row.mu, row.sigma, row.games, row.wins, row.draws, row.losses)
    return FoldedRating(rating, row.forfeits, row.opposition, row.last, row.credit)


def row_of(pool: str, version_id: int, line: FoldedRating) -> dict[str, Any]:
    rating = line.rating
    return {
        "pool": pool,
        "version_id": version_id,
        "mu": rating.mu,
        "sigma": rating.sigma,
        "conservative": rating.conservative,
        "games": rating.games,
        "wins": rating.wins,
        "draws": rating.draws,
        "losses": rating.losses,
        "forfeits": line.forfeits,
        "opposition": line.opposition,
        "last": line.last,
        "credit": line.credit,
    }


def change_row(game: FoldedGame, change: FoldedChange) -> dict[str, Any]:
    before, after = change.before.rating, change.after.rating
    return {
        "game_id": game.game_id,
        "version_id": change.version_id,
        "pool": game.pool,
        "commit_number": game.commit_number,
        "wins": after.wins,
        "draws": after.draws,
        "losses": after.losses,
        "forfeits": change.after.forfeits,
        "opposition": change.after.opposition,
        "mu_before": before.mu,
        "sigma_before": before.sigma,
        "mu": after.mu,
        "sigma": after.sigma,
    }
