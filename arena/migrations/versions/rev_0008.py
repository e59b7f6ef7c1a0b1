"""What users say of themselves: a text and an address."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.add_column("users", sa.Column("about", sa.String(length=1000), nullable=False, server_default=""))
    op.add_column("users", sa.Column("link", sa.String(length=200), nullable=False, server_default=""))


def downgrade() -> None:
    """Back to the one before."""
    op.execute("ALTER TABLE users DROP COLUMN link")
    op.execute("ALTER TABLE users DROP COLUMN about")
