"""A finished tournament keeps what its results say beyond strengths; the referee adds it to those of before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.add_column("tournaments", sa.Column("findings", sa.JSON(), nullable=True))


def downgrade() -> None:
    """Back to the one before."""
    op.execute("ALTER TABLE tournaments DROP COLUMN findings")
