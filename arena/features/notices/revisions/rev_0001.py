"""Addresses for digests, and devices."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Upgrade to this revision."""
    op.create_table(
        "notices_addresses",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(length=254), nullable=False),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("links", sa.Integer(), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("told_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("problem", sa.String(length=300), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_notices_addresses_user_id_users")),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_notices_addresses")),
    )
    with op.batch_alter_table("notices_addresses", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_notices_addresses_address"), ["address"], unique=False)
        batch_op.create_index(batch_op.f("ix_notices_addresses_next_at"), ["next_at"], unique=False)
    op.create_table(
        "notices_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("private_key", sa.String(length=500), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notices_keys")),
    )
    op.create_table(
        "notices_devices",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("endpoint", sa.String(length=1000), nullable=False),
        sa.Column("public_key", sa.String(length=100), nullable=False),
        sa.Column("secret", sa.String(length=40), nullable=False),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("sent_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_notices_devices_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notices_devices")),
        sa.UniqueConstraint("digest", name=op.f("uq_notices_devices_digest")),
    )
    with op.batch_alter_table("notices_devices", schema=None) as batch_op:
        batch_op.create_index("ix_notices_devices_next_at", ["next_at"], unique=False)
        batch_op.create_index("ix_notices_devices_user_id", ["user_id"], unique=False)
