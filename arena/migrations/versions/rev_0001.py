"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "counters",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counters")),
    )
    op.execute("INSERT INTO counters (name, value) VALUES ('commit', 0)")
    op.create_table(
        "leases",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("holder", sa.String(length=120), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_leases")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("name", name=op.f("uq_users_name")),
    )
    op.create_table(
        "answers",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("route", sa.String(length=120), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_answers_user_id_users")),
        sa.PrimaryKeyConstraint("user_id", "key", name=op.f("pk_answers")),
    )
    with op.batch_alter_table("answers", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_answers_created"), ["created"], unique=False)

    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=120), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_audit_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_at"), ["at"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_subject"), ["subject"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_user_id"), ["user_id"], unique=False)

    op.create_table(
        "bots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("is_retired", sa.Boolean(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=op.f("fk_bots_owner_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bots")),
        sa.UniqueConstraint("name", name=op.f("uq_bots_name")),
    )
    with op.batch_alter_table("bots", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_bots_owner_id"), ["owner_id"], unique=False)

    op.create_table(
        "logins",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("csrf", sa.String(length=64), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_logins_user_id_users")),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_logins")),
    )
    with op.batch_alter_table("logins", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_logins_expires"), ["expires"], unique=False)
        batch_op.create_index(batch_op.f("ix_logins_user_id"), ["user_id"], unique=False)

    op.create_table(
        "schedules",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("cron", sa.String(length=80), nullable=False),
        sa.Column("zone", sa.String(length=64), nullable=False),
        sa.Column("missed", sa.String(length=8), nullable=False),
        sa.Column("template", sa.JSON(), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("next_fire", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_schedules_created_by_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedules")),
        sa.UniqueConstraint("name", name=op.f("uq_schedules_name")),
    )
    with op.batch_alter_table("schedules", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_schedules_created_by"), ["created_by"], unique=False)
        batch_op.create_index(batch_op.f("ix_schedules_next_fire"), ["next_fire"], unique=False)

    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("scopes", sa.String(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_tokens_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_tokens_digest")),
    )
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tokens_user_id"), ["user_id"], unique=False)

    op.create_table(
        "tournaments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("variant", sa.String(length=120), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("format", sa.String(length=16), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("pool", sa.String(length=200), nullable=False),
        sa.Column("is_rated", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("starts", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished", sa.DateTime(timezone=True), nullable=True),
        sa.Column("planned_games", sa.Integer(), nullable=False),
        sa.Column("finished_games", sa.Integer(), nullable=False),
        sa.Column("schedule_id", sa.Integer(), nullable=True),
        sa.Column("fire_time", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_tournaments_created_by_users")),
        sa.ForeignKeyConstraint(["schedule_id"], ["schedules.id"], name=op.f("fk_tournaments_schedule_id_schedules")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tournaments")),
        sa.UniqueConstraint("schedule_id", "fire_time", name=op.f("uq_tournaments_schedule_id_fire_time")),
    )
    with op.batch_alter_table("tournaments", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tournaments_created_by"), ["created_by"], unique=False)
        batch_op.create_index("ix_tournaments_family_starts", ["family", "starts", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_tournaments_finished"), ["finished"], unique=False)
        batch_op.create_index(batch_op.f("ix_tournaments_pool"), ["pool"], unique=False)
        batch_op.create_index(batch_op.f("ix_tournaments_schedule_id"), ["schedule_id"], unique=False)
        batch_op.create_index("ix_tournaments_starts", ["starts", "id"], unique=False)
        batch_op.create_index("ix_tournaments_state_starts", ["state", "starts", "id"], unique=False)

    op.create_table(
        "versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("bundle", sa.String(length=64), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("command", sa.JSON(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("limits", sa.JSON(), nullable=False),
        sa.Column("capabilities", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("problem", sa.String(), nullable=False),
        sa.Column("follows_id", sa.Integer(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("checked", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_versions_bot_id_bots")),
        sa.ForeignKeyConstraint(["follows_id"], ["versions.id"], name=op.f("fk_versions_follows_id_versions")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
        sa.UniqueConstraint("bot_id", "number", name=op.f("uq_versions_bot_id_number")),
        sa.UniqueConstraint("name", name=op.f("uq_versions_name")),
    )
    with op.batch_alter_table("versions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_versions_bot_id"), ["bot_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_versions_bundle"), ["bundle"], unique=False)
        batch_op.create_index(batch_op.f("ix_versions_follows_id"), ["follows_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_versions_state"), ["state"], unique=False)

    op.create_table(
        "entries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("eligibility", sa.String(), nullable=False),
        sa.Column("withdrawn", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournaments.id"], name=op.f("fk_entries_tournament_id_tournaments")
        ),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_entries_version_id_versions")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entries")),
        sa.UniqueConstraint("tournament_id", "seat", name=op.f("uq_entries_tournament_id_seat")),
        sa.UniqueConstraint("tournament_id", "version_id", name=op.f("uq_entries_tournament_id_version_id")),
    )
    with op.batch_alter_table("entries", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_entries_version_id"), ["version_id"], unique=False)

    op.create_table(
        "games",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("pair", sa.Integer(), nullable=False),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("pool", sa.String(length=200), nullable=False),
        sa.Column("variant", sa.String(length=120), nullable=False),
        sa.Column("first_id", sa.Integer(), nullable=False),
        sa.Column("second_id", sa.Integer(), nullable=False),
        sa.Column("first", sa.String(length=60), nullable=False),
        sa.Column("second", sa.String(length=60), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("is_rated", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=120), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished", sa.DateTime(timezone=True), nullable=True),
        sa.Column("committed", sa.Integer(), nullable=True),
        sa.Column("winner", sa.String(length=8), nullable=True),
        sa.Column("termination", sa.String(length=32), nullable=True),
        sa.Column("kind", sa.String(length=16), nullable=True),
        sa.Column("detail", sa.String(), nullable=False),
        sa.Column("plies", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["first_id"], ["versions.id"], name=op.f("fk_games_first_id_versions")),
        sa.ForeignKeyConstraint(["second_id"], ["versions.id"], name=op.f("fk_games_second_id_versions")),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name=op.f("fk_games_tournament_id_tournaments")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_games")),
        sa.UniqueConstraint("committed", name=op.f("uq_games_committed")),
        sa.UniqueConstraint("tournament_id", "sequence", name=op.f("uq_games_tournament_id_sequence")),
    )
    with op.batch_alter_table("games", schema=None) as batch_op:
        batch_op.create_index("ix_games_family_committed", ["family", "committed"], unique=False)
        batch_op.create_index("ix_games_first_committed", ["first_id", "committed"], unique=False)
        batch_op.create_index("ix_games_kind_committed", ["kind", "committed"], unique=False)
        batch_op.create_index("ix_games_pairing_committed", ["first_id", "second_id", "committed"], unique=False)
        batch_op.create_index("ix_games_pool_committed", ["pool", "committed"], unique=False)
        batch_op.create_index("ix_games_second_committed", ["second_id", "committed"], unique=False)
        batch_op.create_index("ix_games_state_worker", ["state", "worker"], unique=False)
        batch_op.create_index("ix_games_tournament_committed", ["tournament_id", "committed"], unique=False)
        batch_op.create_index("ix_games_tournament_state", ["tournament_id", "state", "sequence"], unique=False)

    op.create_table(
        "ratings",
        sa.Column("pool", sa.String(length=200), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        sa.Column("conservative", sa.Float(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("forfeits", sa.Integer(), nullable=False),
        sa.Column("opposition", sa.Float(), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_ratings_version_id_versions")),
        sa.PrimaryKeyConstraint("pool", "version_id", name=op.f("pk_ratings")),
    )
    with op.batch_alter_table("ratings", schema=None) as batch_op:
        batch_op.create_index("ix_ratings_pool_conservative", ["pool", "conservative", "version_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ratings_version_id"), ["version_id"], unique=False)

    op.create_table(
        "version_families",
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("family", sa.String(length=32), nullable=False),
        sa.Column("variants", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_version_families_version_id_versions")),
        sa.PrimaryKeyConstraint("version_id", "family", name=op.f("pk_version_families")),
    )
    with op.batch_alter_table("version_families", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_version_families_family"), ["family"], unique=False)

    op.create_table(
        "rating_changes",
        sa.Column("game_id", sa.String(length=32), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("pool", sa.String(length=200), nullable=False),
        sa.Column("committed", sa.Integer(), nullable=False),
        sa.Column("mu_before", sa.Float(), nullable=False),
        sa.Column("sigma_before", sa.Float(), nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_rating_changes_game_id_games")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_rating_changes_version_id_versions")),
        sa.PrimaryKeyConstraint("game_id", "version_id", name=op.f("pk_rating_changes")),
    )
    with op.batch_alter_table("rating_changes", schema=None) as batch_op:
        batch_op.create_index(
            "ix_rating_changes_version_pool_committed", ["version_id", "pool", "committed"], unique=False
        )

    op.create_table(
        "records",
        sa.Column("game_id", sa.String(length=32), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_records_game_id_games")),
        sa.PrimaryKeyConstraint("game_id", name=op.f("pk_records")),
    )
    op.create_table(
        "voids",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("game_id", sa.String(length=32), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("termination", sa.String(length=32), nullable=False),
        sa.Column("detail", sa.String(), nullable=False),
        sa.Column("worker", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_voids_game_id_games")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_voids")),
    )
    with op.batch_alter_table("voids", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_voids_at"), ["at"], unique=False)
        batch_op.create_index(batch_op.f("ix_voids_game_id"), ["game_id"], unique=False)


def downgrade() -> None:
    """Back to the one before."""
    with op.batch_alter_table("voids", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_voids_game_id"))
        batch_op.drop_index(batch_op.f("ix_voids_at"))

    op.drop_table("voids")
    op.drop_table("records")
    with op.batch_alter_table("rating_changes", schema=None) as batch_op:
        batch_op.drop_index("ix_rating_changes_version_pool_committed")

    op.drop_table("rating_changes")
    with op.batch_alter_table("version_families", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_version_families_family"))

    op.drop_table("version_families")
    with op.batch_alter_table("ratings", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_ratings_version_id"))
        batch_op.drop_index("ix_ratings_pool_conservative")

    op.drop_table("ratings")
    with op.batch_alter_table("games", schema=None) as batch_op:
        batch_op.drop_index("ix_games_tournament_state")
        batch_op.drop_index("ix_games_tournament_committed")
        batch_op.drop_index("ix_games_state_worker")
        batch_op.drop_index("ix_games_second_committed")
        batch_op.drop_index("ix_games_pool_committed")
        batch_op.drop_index("ix_games_pairing_committed")
        batch_op.drop_index("ix_games_kind_committed")
        batch_op.drop_index("ix_games_first_committed")
        batch_op.drop_index("ix_games_family_committed")

    op.drop_table("games")
    with op.batch_alter_table("entries", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_entries_version_id"))

    op.drop_table("entries")
    with op.batch_alter_table("versions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_versions_state"))
        batch_op.drop_index(batch_op.f("ix_versions_follows_id"))
        batch_op.drop_index(batch_op.f("ix_versions_bundle"))
        batch_op.drop_index(batch_op.f("ix_versions_bot_id"))

    op.drop_table("versions")
    with op.batch_alter_table("tournaments", schema=None) as batch_op:
        batch_op.drop_index("ix_tournaments_state_starts")
        batch_op.drop_index("ix_tournaments_starts")
        batch_op.drop_index(batch_op.f("ix_tournaments_schedule_id"))
        batch_op.drop_index(batch_op.f("ix_tournaments_pool"))
        batch_op.drop_index(batch_op.f("ix_tournaments_finished"))
        batch_op.drop_index("ix_tournaments_family_starts")
        batch_op.drop_index(batch_op.f("ix_tournaments_created_by"))

    op.drop_table("tournaments")
    with op.batch_alter_table("tokens", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_tokens_user_id"))

    op.drop_table("tokens")
    with op.batch_alter_table("schedules", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_schedules_next_fire"))
        batch_op.drop_index(batch_op.f("ix_schedules_created_by"))

    op.drop_table("schedules")
    with op.batch_alter_table("logins", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_logins_user_id"))
        batch_op.drop_index(batch_op.f("ix_logins_expires"))

    op.drop_table("logins")
    with op.batch_alter_table("bots", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_bots_owner_id"))

    op.drop_table("bots")
    with op.batch_alter_table("audit", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_audit_user_id"))
        batch_op.drop_index(batch_op.f("ix_audit_subject"))
        batch_op.drop_index(batch_op.f("ix_audit_at"))

    op.drop_table("audit")
    with op.batch_alter_table("answers", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_answers_created"))

    op.drop_table("answers")
    op.drop_table("users")
    op.drop_table("leases")
    op.drop_table("counters")
