"""Cancelled games are no part of a tournament's total: `planned_games` counts those played and those to be played."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_TOURNAMENTS = sa.table("tournaments", *map(sa.column, ("id", "state", "planned_games", "finished_games")))
_GAMES = sa.table("games", *map(sa.column, ("tournament_id", "state")))
_CANCELLED = (
    sa.select(sa.func.count())
    .select_from(_GAMES)
    .where(_GAMES.c.tournament_id == _TOURNAMENTS.c.id, _GAMES.c.state == "cancelled")
    .scalar_subquery()
)
_COUNTED_AS_OVER = sa.case((_TOURNAMENTS.c.state == "open", _CANCELLED), else_=0)
"""Games of people were counted as over when they were cancelled."""


def upgrade() -> None:
    """To this revision."""
    op.execute(
        sa.update(_TOURNAMENTS).values(
            planned_games=_TOURNAMENTS.c.planned_games - _CANCELLED,
            finished_games=_TOURNAMENTS.c.finished_games - _COUNTED_AS_OVER,
        )
    )


def downgrade() -> None:
    """Back to the one before."""
    op.execute(
        sa.update(_TOURNAMENTS).values(
            planned_games=_TOURNAMENTS.c.planned_games + _CANCELLED,
            finished_games=_TOURNAMENTS.c.finished_games + _COUNTED_AS_OVER,
        )
    )
