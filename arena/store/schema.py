"""The schema of the database: making it, and refusing one that is not the program's."""

from __future__ import annotations

from sqlalchemy import Engine, insert, inspect
from sqlmodel import SQLModel

from arena import models
from arena.store.commit import COUNTER
from arena.store.errors import SchemaError, translated


def is_fresh(engine: Engine) -> bool:
    """Whether there is no table yet."""
    with translated():
        return not inspect(engine).get_table_names()


def create(engine: Engine) -> None:
    """Make every table and the rows they need."""
    with translated(), engine.begin() as connection:
        SQLModel.metadata.create_all(connection)
        connection.execute(insert(models.Counter).values(name=COUNTER, value=0))


def require(engine: Engine) -> None:
    """Raise SchemaError unless all tables are there."""
    with translated():
        missing = sorted(set(SQLModel.metadata.tables) - set(inspect(engine).get_table_names()))
    if missing:
        raise SchemaError(f"the database has no table {missing[0]!r}; run `arena db upgrade`")
