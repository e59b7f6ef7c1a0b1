"""Webhooks and their deliveries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Upgrade to this revision."""
    op.create_table(
        "webhooks_hooks",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("url", sa.String(length=500), nullable=False),
        sa.Column("form", sa.String(length=8), nullable=False),
        sa.Column("secret", sa.String(length=80), nullable=False),
        sa.Column("news", sa.JSON(), nullable=False),
        sa.Column("is_private_allowed", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "webhooks_marks",
        sa.Column("name", sa.String(length=240), primary_key=True),
        sa.Column("value", sa.Integer(), nullable=False),
    )
    op.create_table(
        "webhooks_deliveries",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("hook_id", sa.Integer(), sa.ForeignKey("webhooks_hooks.id"), nullable=False),
        sa.Column("key", sa.String(length=300), nullable=False),
        sa.Column("news", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("hook_id", "key"),
        sa.Index("ix_webhooks_deliveries_state_next_at", "state", "next_at"),
    )
