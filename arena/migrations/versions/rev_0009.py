"""A version may run on its author's machine (`place`), and is then connected or not (`presences`)."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.add_column("versions", sa.Column("place", sa.String(length=16), nullable=False, server_default=""))
    op.create_table(
        "presences",
        sa.Column("version_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("is_connected", sa.Boolean(), nullable=False),
        sa.Column("seen", sa.DateTime(timezone=True), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("most_games", sa.Integer(), nullable=False),
        sa.Column("latency_ms", sa.Float(), nullable=True),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_presences_version_id_versions")),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_presences")),
    )


def downgrade() -> None:
    """Back to the one before."""
    op.drop_table("presences")
    op.execute("ALTER TABLE versions DROP COLUMN place")
