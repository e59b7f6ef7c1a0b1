"""Followed people, and the days on which users solved the problem of the day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1003"
down_revision = "1002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Upgrade to this revision."""
    op.create_table(
        "problem_days",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("problem_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["problem_id"], ["problems.id"], name=op.f("fk_problem_days_problem_id_problems")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_problem_days_user_id_users")),
        sa.PrimaryKeyConstraint("user_id", "family", "day", name=op.f("pk_problem_days")),
    )
    op.add_column("follows", sa.Column("person_id", sa.Integer(), nullable=True))
    op.create_index(op.f("ix_follows_person_id"), "follows", ["person_id"])
    op.create_index("ix_follows_user_id_person_id", "follows", ["user_id", "person_id"], unique=True)
