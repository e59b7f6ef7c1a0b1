"""The columns that name the owner of the coordinator's lease are called so.

A game's `worker` and a void attempt's never were a worker: they hold the name under which a coordinator owned its
lease, like the `holder` of the lease. Nothing else changes: no row is read or written.
"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

COLUMNS = (("games", "worker", "lease_owner"), ("voids", "worker", "lease_owner"), ("leases", "holder", "owner"))
"""(table, name before, name after)."""


def upgrade() -> None:
    """To this revision."""
    for table, before, after in COLUMNS:
        _rename(table, before, after)
    _replace_index("ix_games_state_worker", "ix_games_state_lease_owner", "lease_owner")


def downgrade() -> None:
    """Back to the one before."""
    for table, before, after in COLUMNS:
        _rename(table, after, before)
    _replace_index("ix_games_state_lease_owner", "ix_games_state_worker", "worker")


def _rename(table: str, before: str, after: str) -> None:
    # Both databases rename in place. A batch would copy the table in SQLite and drop the old one, which what refers to
    # games forbids, and take minutes for a million games.
    op.execute(f"ALTER TABLE {table} RENAME COLUMN {before} TO {after}")


def _replace_index(before: str, after: str, column: str) -> None:
    with op.batch_alter_table("games", schema=None) as batch_op:
        batch_op.drop_index(before)
        batch_op.create_index(after, ["state", column], unique=False)
