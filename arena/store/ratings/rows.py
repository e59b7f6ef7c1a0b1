"""Converts ratings and rating changes between rows of the database and the values of `fold`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from arena.store.base.models import VersionRating
from arena.store.ratings import fold
from referee.ratings import trueskill

COUNTER = "commit"
"""Name of the counter that numbers commits."""


def line_of(row: VersionRating | Row[Any]) -> fold.FoldedRating:
    """Convert a stored rating to the type that `fold` uses."""
    rating = trueskill.TrueSkillRating(row.mu, row.sigma, row.games, row.wins, row.draws, row.losses)
    return fold.FoldedRating(rating, row.forfeits, row.opposition, row.last)


def row_of(pool: str, version_id: int, line: fold.FoldedRating) -> dict[str, Any]:
    """Return the columns of a rating."""
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
    }


def change_row(game: fold.FoldedGame, change: fold.FoldedChange) -> dict[str, Any]:
    """Return the columns of a rating change."""
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
