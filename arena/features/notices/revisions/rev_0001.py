"""Addresses for digests, and devices."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Upgrade to this revision."""
    op.create_table(
        "notices_addresses",
        sa.Column("user_id", sa.Integer(), sa.ForeignKey("users.id"), primary_key=True),
        sa.Column("address", sa.String(length=254), nullable=False, index=True),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("links", sa.Integer(), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True)),
        sa.Column("told_until", sa.DateTime(timezone=True)),
        sa.Column("next_at", sa.DateTime(timezone=True), index=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("problem", sa.String(length=300), nullable=False),
    )
    op.create_table(
        "notices_keys",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("private_key", sa.String(length=500), nullable=False),
    )
    op.create_table(
        "notices_devices",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("user_id", sa.Integer(), sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("digest", sa.String(length=64), nullable=False, unique=True),
        sa.Column("endpoint", sa.String(length=1000), nullable=False),
        sa.Column("public_key", sa.String(length=100), nullable=False),
        sa.Column("secret", sa.String(length=40), nullable=False),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("sent_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False, index=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
