"""What Alembic runs first. The connection comes from `arena.store.schema`; there is no configuration file."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from sqlmodel import AutoString, SQLModel

from arena.store.models import Utc


def render(kind: str, item: Any, _: Any) -> str | Literal[False]:
    """Types of revisions are those of SQLAlchemy: history must not change when the program's own types do."""
    if kind == "type" and isinstance(item, Utc):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, AutoString):
        return f"sa.String(length={item.length})" if item.length else "sa.String()"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    render_item=render,
    compare_type=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
