"""Alembic environment. The connection comes from `arena.store.base.schema`, not from a configuration file."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from alembic.operations.ops import ExecuteSQLOp, MigrationScript
from sqlmodel import AutoString, SQLModel

from arena.store.base.fields import Utc


def render(kind: str, item: Any, _: Any) -> str | Literal[False]:
    """Render column types as those of SQLAlchemy: revisions must not change with the program's own types."""
    if kind == "type" and isinstance(item, Utc):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, AutoString):
        return f"sa.String(length={item.length})" if item.length else "sa.String()"
    return False


chain = context.config.attributes["chain"]


def is_own(name: str | None, kind: str, _: Any) -> bool:
    """Return whether the chain of this revision has a table; the tables of features are known to the core as well."""
    return kind != "table" or (name is not None and chain.owns(name))


def fill(_: Any, revision: Any, scripts: list[MigrationScript]) -> None:
    """Add to the first revision the counter `commit`, a row without which no result can be stored."""
    if not chain.name and not revision and (upgrade := scripts[0].upgrade_ops):
        upgrade.ops.append(ExecuteSQLOp("INSERT INTO counters (name, value) VALUES ('commit', 0)"))


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    # SQLite can change few things of a table in place: Alembic then copies the table.
    render_as_batch=True,
    render_item=render,
    compare_type=True,
    version_table=chain.table,
    include_name=is_own,
    include_object=lambda _, name, kind, *__: is_own(name, kind, None),
    process_revision_directives=fill,
    # Alembic assumes that SQLite has none, as Python's driver ends transactions before DDL; ours begins them itself.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
