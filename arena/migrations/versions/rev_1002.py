"""The file of a bot as it was uploaded, in one column, and games whose opponents were chosen by a player."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1002"
down_revision = "1001"
branch_labels = None
depends_on = None

_KEPT = ("command", "options", "limits")
"""The keys that were columns. The bots stored before run in the root of their bundles, and say nothing more."""


def upgrade() -> None:
    """Upgrade to this revision."""
    op.add_column("versions", sa.Column("file", sa.JSON(), server_default="{}", nullable=False))
    number, file = sa.column("id", sa.Integer()), sa.column("file", sa.JSON())
    kept = [sa.column(name, sa.JSON()) for name in _KEPT]
    versions = sa.table("versions", number, file, *kept)
    connection = op.get_bind()
    for key, *values in connection.execute(sa.select(number, *kept)).fetchall():
        connection.execute(versions.update().where(number == key).values(file=dict(zip(_KEPT, values, strict=True))))
    for name in _KEPT:
        op.drop_column("versions", name)
    # Games planned before keep the rules by which they were rated: their number is 0.
    op.add_column("tournaments", sa.Column("is_challenge", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("games", sa.Column("meeting", sa.Integer(), server_default="0", nullable=False))
    op.add_column("games", sa.Column("anchor", sa.String(length=8), nullable=True))
    op.add_column("ratings", sa.Column("credit", sa.Float(), server_default="0", nullable=False))
    op.execute(sa.text("UPDATE tournaments SET is_challenge = true WHERE state = 'open'"))
