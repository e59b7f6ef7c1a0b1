"""Games of all times are in one archive, and found by their positions.

It is empty at first: whoever coordinates takes in what was played here (`arena.coordinator.follower`).
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "archive_games",
        sa.Column("serial", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("game_id", sa.String(length=40), nullable=False),
        sa.Column("label", sa.String(length=80), nullable=False),
        *(
            sa.Column(name, sa.Integer(), nullable=False)
            for name in ("variant_id", "first_id", "second_id", "termination_id", "source_id", "winner", "plies", "day")
        ),
        sa.Column("is_withdrawn", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_archive_games")),
        sa.UniqueConstraint("game_id", name=op.f("uq_archive_games_game_id")),
    )
    op.create_index(op.f("ix_archive_games_label"), "archive_games", ["label"])
    op.create_table(
        "archive_names",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_archive_names")),
        sa.UniqueConstraint("kind", "name", name=op.f("uq_archive_names_kind_name")),
    )
    op.create_table(
        "archive_parts",
        sa.Column("id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("first", "last", "bits", "entries")),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_archive_parts")),
    )
    op.create_index(op.f("ix_archive_parts_is_live"), "archive_parts", ["is_live"])
    op.create_table(
        "archive_positions",
        sa.Column("part_id", sa.Integer(), nullable=False),
        sa.Column("bucket", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["part_id"], ["archive_parts.id"], name=op.f("fk_archive_positions_part_id_archive_parts")
        ),
        sa.PrimaryKeyConstraint("part_id", "bucket", name=op.f("pk_archive_positions")),
    )
    op.create_table(
        "archive_texts",
        sa.Column("serial", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["serial"], ["archive_games.serial"], name=op.f("fk_archive_texts_serial_archive_games")
        ),
        sa.PrimaryKeyConstraint("serial", name=op.f("pk_archive_texts")),
    )
    if op.get_bind().dialect.name == "postgresql":  # compressed already
        for table in ("archive_positions", "archive_texts"):
            op.execute(f"ALTER TABLE {table} ALTER COLUMN data SET STORAGE EXTERNAL")


def downgrade() -> None:
    """Back to the one before."""
    for table in ("archive_texts", "archive_positions", "archive_parts", "archive_names", "archive_games"):
        op.drop_table(table)
    op.execute("DELETE FROM counters WHERE name LIKE 'archive%'")
