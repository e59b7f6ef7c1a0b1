"""The archive is searched by ordinary indexes: every web process kept its columns in memory before.

Names get a spelling without the case of letters, games their pool. Results that were undone have no row any more, and
parts of the position index are replaced within one transaction, so none is waiting to be swept.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_NAMES = sa.table("archive_names", *map(sa.column, ("id", "kind", "name", "folded")))
_GAMES = sa.table(
    "archive_games", *map(sa.column, ("serial", "game_id", "pool_id")), sa.column("is_withdrawn", sa.Boolean)
)
_PLAYED = sa.table("games", *map(sa.column, ("id", "pool", "committed")))
_PARTS = sa.table("archive_parts", sa.column("id"), sa.column("is_live", sa.Boolean))
_BUCKETS = sa.table("archive_positions", sa.column("part_id"))
_SEARCHED = ("variant_id", "first_id", "second_id", "termination_id", "source_id", "winner", "plies", "day")
_INDEXES = (
    ("first_id",),
    ("second_id",),
    ("variant_id",),
    ("source_id", "variant_id"),
    ("day", "serial"),
    ("plies", "serial"),
)


def upgrade() -> None:
    """To this revision."""
    base = op.get_bind()
    dead = sa.select(_PARTS.c.id).where(~_PARTS.c.is_live)
    op.execute(sa.delete(_BUCKETS).where(_BUCKETS.c.part_id.in_(dead)))
    op.execute(sa.delete(_PARTS).where(~_PARTS.c.is_live))
    op.drop_index("ix_archive_parts_is_live", "archive_parts")
    op.drop_column("archive_parts", "is_live")

    op.add_column("archive_names", sa.Column("folded", sa.Text(), nullable=False, server_default=""))
    rows = base.execute(sa.select(_NAMES.c.id, _NAMES.c.name)).all()
    change = sa.update(_NAMES).where(_NAMES.c.id == sa.bindparam("of_id")).values(folded=sa.bindparam("to"))
    if rows:
        base.execute(change, [{"of_id": number, "to": name.casefold()} for number, name in rows])

    op.execute(sa.delete(_GAMES).where(_GAMES.c.is_withdrawn))
    op.drop_column("archive_games", "is_withdrawn")
    op.add_column("archive_games", sa.Column("pool_id", sa.Integer(), nullable=False, server_default="0"))
    pools = ["", *base.scalars(sa.select(_PLAYED.c.pool).where(_PLAYED.c.committed.is_not(None)).distinct())]
    if base.scalar(sa.select(sa.func.count()).select_from(_GAMES)):
        base.execute(sa.insert(_NAMES), [{"kind": "pool", "name": name, "folded": name} for name in pools])
    pool = sa.select(_PLAYED.c.pool).where(_PLAYED.c.id == _GAMES.c.game_id).scalar_subquery()
    of_pool = sa.select(_NAMES.c.id).where(_NAMES.c.kind == "pool", _NAMES.c.name == sa.func.coalesce(pool, ""))
    op.execute(sa.update(_GAMES).values(pool_id=of_pool.correlate(_GAMES).scalar_subquery()))
    for first in _INDEXES:
        rest = [name for name in _SEARCHED if name not in first]
        op.create_index(f"ix_archive_games_{first[0]}", "archive_games", [*first, *rest])

    for table in ("archive_names", "archive_games"):
        column = "folded" if table == "archive_names" else "pool_id"
        with op.batch_alter_table(table) as batch:
            batch.alter_column(column, server_default=None)
    op.execute("DELETE FROM counters WHERE name = 'archive-generation'")
    if base.dialect.name == "postgresql":  # merges leave as much behind as they write
        op.execute("ALTER TABLE archive_positions SET (toast.autovacuum_vacuum_scale_factor = 0.05)")


def downgrade() -> None:
    """Back to the one before."""
    for first in _INDEXES:
        op.drop_index(f"ix_archive_games_{first[0]}", "archive_games")
    op.drop_column("archive_games", "pool_id")
    op.execute(sa.delete(_NAMES).where(_NAMES.c.kind == "pool"))
    op.drop_column("archive_names", "folded")
    op.add_column("archive_games", sa.Column("is_withdrawn", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("archive_parts", sa.Column("is_live", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.create_index("ix_archive_parts_is_live", "archive_parts", ["is_live"])
