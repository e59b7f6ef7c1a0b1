"""Alembic environment. The connection comes from `arena.store.base.schema`, not from a configuration file."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from alembic.operations.ops import ExecuteSQLOp, MigrationScript
from sqlmodel import AutoString, SQLModel

from arena.store.base.models import Utc


def render(kind: str, item: Any, _: Any) -> str | Literal[False]:
    """Render column types as those of SQLAlchemy: revisions must not change with the program's own types."""
    if kind == "type" and isinstance(item, Utc):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, AutoString):
        return f"sa.String(length={item.length})" if item.length else "sa.String()"
    return False


def fill(_: Any, revision: Any, scripts: list[MigrationScript]) -> None:
    """Add to the first revision the counter `commit`, a row without which no result can be stored."""
    if not revision and (upgrade := scripts[0].upgrade_ops):
        upgrade.ops.append(ExecuteSQLOp("INSERT INTO counters (name, value) VALUES ('commit', 0)"))


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    render_item=render,
    compare_type=True,
    process_revision_directives=fill,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
