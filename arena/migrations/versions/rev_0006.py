"""Lists of games by variant, result and day have an index."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

INDEXES = {
    "ix_games_variant_committed": ["variant", "committed"],
    "ix_games_winner_committed": ["winner", "committed"],
    "ix_games_finished_committed": ["finished", "committed"],
}


def upgrade() -> None:
    """To this revision."""
    for name, columns in INDEXES.items():
        op.create_index(name, "games", columns)


def downgrade() -> None:
    """Back to the one before."""
    for name in INDEXES:
        op.drop_index(name, "games")
