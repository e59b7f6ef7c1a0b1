"""People play: their games and what they have decided, and whom their owners let them play."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from arena.store.models import Utc

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

INDEXES = ("user_id", "guest", "address")


def upgrade() -> None:
    """To this revision."""
    op.add_column("bots", sa.Column("plays_people", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "people_games",
        sa.Column("game_id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("guest", sa.String(length=64), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("side", sa.String(length=8), nullable=False),
        sa.Column("plies", sa.JSON(), nullable=False),
        sa.Column("asked", sa.JSON(), nullable=True),
        sa.Column("created", Utc(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_people_games_game_id_games")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_people_games_user_id_users")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_people_games")),
    )
    for name in INDEXES:
        op.create_index(op.f(f"ix_people_games_{name}"), "people_games", [name])


def downgrade() -> None:
    """Back to the one before."""
    op.drop_table("people_games")
    op.execute("ALTER TABLE bots DROP COLUMN plays_people")
