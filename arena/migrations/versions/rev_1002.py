"""The file of a bot as it was uploaded, in one column, games whose opponents were chosen by a player, imported games
without a reason for their result, followed people, and the days on which users solved the problem of the day.
"""

from __future__ import annotations

import json

import sqlalchemy as sa
import zstandard
from alembic import op

revision = "1002"
down_revision = "1001"

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
    op.create_table(
        "problem_days",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("problem_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["problem_id"], ["problems.id"], name=op.f("fk_problem_days_problem_id_problems")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_problem_days_user_id_users")),
        sa.PrimaryKeyConstraint("user_id", "family", "day", name=op.f("pk_problem_days")),
    )
    op.add_column("follows", sa.Column("person_id", sa.Integer(), nullable=True))
    op.create_index(op.f("ix_follows_person_id"), "follows", ["person_id"])
    op.create_index("ix_follows_user_id_person_id", "follows", ["user_id", "person_id"], unique=True)
    _forget_reasons(connection)
    _empty_rebuilds()


def _empty_rebuilds() -> None:
    """Make the table of corrected changes again with its rows in the order of commits; no rebuild can be continued."""
    op.execute(sa.text("DELETE FROM rebuilds"))
    op.drop_table("rebuilt_changes")
    op.create_table(
        "rebuilt_changes",
        sa.Column("rebuild_id", sa.String(length=32), primary_key=True),
        sa.Column("commit_number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("game_id", sa.String(length=32), primary_key=True),
        sa.Column("version_id", sa.Integer(), primary_key=True),
        sa.Column("pool", sa.String(length=200), nullable=False),
        *(sa.Column(name, sa.Integer()) for name in ("wins", "draws", "losses", "forfeits")),
        *(sa.Column(name, sa.Float()) for name in ("opposition", "mu_before", "sigma_before", "mu", "sigma")),
    )


def _forget_reasons(connection: sa.Connection) -> None:
    """Take back the resignations and agreements that were supposed where a text only gave a result."""
    serial, form = sa.column("serial", sa.Integer()), "termination"
    data = sa.column("data", sa.LargeBinary())
    texts = sa.table("archive_texts", serial, data)
    number, kind = sa.column("id", sa.Integer()), sa.column("kind", sa.Text())
    name = sa.column("name", sa.Text())
    names = sa.table("archive_names", number, kind, name, sa.column("folded", sa.Text()))
    games = sa.table("archive_games", sa.column("serial", sa.Integer()), sa.column("termination_id", sa.Integer()))
    supposed = []
    for key in connection.execute(sa.select(serial).order_by(serial)).scalars().all():
        packed = connection.execute(sa.select(data).where(serial == key)).scalar_one()
        game = json.loads(zstandard.ZstdDecompressor().decompress(packed))
        if game[form] not in ("resigned", "draw-agreed"):
            continue
        text = json.dumps(game | {form: "unstated"}, ensure_ascii=False, separators=(",", ":"))
        again = zstandard.ZstdCompressor(level=6).compress(text.encode())
        connection.execute(texts.update().where(serial == key).values(data=again))
        supposed.append(key)
    if not supposed:
        return
    connection.execute(names.insert().values(kind=form, name="unstated", folded="unstated"))
    unstated = connection.execute(sa.select(number).where(kind == form, name == "unstated")).scalar_one()
    for key in supposed:
        connection.execute(games.update().where(games.c.serial == key).values(termination_id=unstated))
