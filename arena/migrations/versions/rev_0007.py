"""Analyses of games are kept, asked for, and looked for by their figures."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

INDEXES = {
    "analyses": ("accuracy", "at", "family", "gaffes", "is_thrown", "turns"),
    "analysis_requests": ("at", "user_id"),
    "curves": ("family",),
}


def upgrade() -> None:
    """To this revision."""
    time = sa.DateTime(timezone=True)
    op.create_table(
        "analyses",
        sa.Column("game_id", sa.String(length=40), nullable=False),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("judge", sa.String(length=80), nullable=False),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("fit", sa.String(length=40), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("gaffes", "first_gaffes", "second_gaffes")),
        *(sa.Column(name, sa.Float(), nullable=True) for name in ("accuracy", "first_accuracy", "second_accuracy")),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("is_thrown", sa.Boolean(), nullable=False),
        sa.Column("at", time, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_analyses")),
    )
    op.create_table(
        "analysis_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("game_id", sa.String(length=40), nullable=True),
        sa.Column("question", sa.JSON(), nullable=False),
        sa.Column("nodes", sa.Integer(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.Column("is_done", sa.Boolean(), nullable=False),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("at", time, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_analysis_requests_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_analysis_requests")),
        sa.UniqueConstraint("game_id", name=op.f("uq_analysis_requests_game_id")),
    )
    op.create_table(
        "curves",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("scale", sa.Float(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("positions", sa.Integer(), nullable=False),
        sa.Column("log_loss", sa.Float(), nullable=False),
        sa.Column("created", time, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_curves")),
    )
    for table, columns in INDEXES.items():
        for name in columns:
            op.create_index(op.f(f"ix_{table}_{name}"), table, [name])
    if op.get_bind().dialect.name == "postgresql":  # compressed already
        op.execute("ALTER TABLE analyses ALTER COLUMN data SET STORAGE EXTERNAL")


def downgrade() -> None:
    """Back to the one before."""
    for table in ("curves", "analysis_requests", "analyses"):
        op.drop_table(table)
