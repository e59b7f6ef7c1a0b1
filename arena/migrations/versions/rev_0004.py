"""A game knows the worker that brought its result, and an entry whether and why it was suspended.

Empty for what is there already: nobody noted who played it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

COLUMNS = (("games", "worker", sa.String(length=120)), ("entries", "suspended", sa.String()))
"""(table, name, type)."""


def upgrade() -> None:
    """To this revision."""
    for table, name, kind in COLUMNS:  # in place, without a copy of the table
        op.add_column(table, sa.Column(name, kind, nullable=False, server_default=""))


def downgrade() -> None:
    """Back to the one before."""
    for table, name, _ in COLUMNS:
        op.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
