"""Log-ins are counted for all web processes together, and tokens know with which token they were made.

Tokens there are were made with none: they end as they did.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "guesses",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("count", sa.Float(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_guesses")),
    )
    op.create_table(
        "known_places",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("seen", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_known_places_user_id_users")),
        sa.PrimaryKeyConstraint("user_id", "digest", name=op.f("pk_known_places")),
    )
    with op.batch_alter_table("known_places", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_known_places_digest"), ["digest"], unique=False)

    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.add_column(sa.Column("parent_id", sa.Integer(), nullable=True))
        batch_op.create_index(batch_op.f("ix_tokens_parent_id"), ["parent_id"], unique=False)
        batch_op.create_foreign_key(batch_op.f("fk_tokens_parent_id_tokens"), "tokens", ["parent_id"], ["id"])


def downgrade() -> None:
    """Back to the one before."""
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("fk_tokens_parent_id_tokens"), type_="foreignkey")
        batch_op.drop_index(batch_op.f("ix_tokens_parent_id"))
        batch_op.drop_column("parent_id")

    with op.batch_alter_table("known_places", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_known_places_digest"))
    op.drop_table("known_places")
    op.drop_table("guesses")
