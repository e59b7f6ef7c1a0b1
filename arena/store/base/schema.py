"""The database schema: upgrade it, compare it with the models, reject another program's.

The revisions are in `arena.migrations`; they run in this process, in one transaction. Alembic is imported only for
changing or comparing a schema, because the check at every start needs just one query.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, inspect, text
from sqlmodel import SQLModel

from arena.errors import EmptyDatabaseError, SchemaError
from arena.store.base import models
from arena.store.base.engine import Sessions
from arena.store.base.errors import translated

if TYPE_CHECKING:
    from alembic.config import Config

_FOLDER = Path(models.__file__).parents[2] / "migrations"
FIRST = 1001
"""Number of the first revision. Those before 1.0 were 0001 to 0012 and cannot be upgraded."""
_LOCK = 0x6172656E61
"""PostgreSQL advisory lock that serialises upgrades."""


def is_fresh(engine: Engine) -> bool:
    """Return whether the database has no tables."""
    with translated(), engine.connect() as connection:
        return not inspect(connection).get_table_names()


def upgrade(engine: Engine) -> tuple[str | None, str]:
    """Upgrade the database to the program's schema; return the revisions before (None = new) and after.

    All leases are deleted: a coordinator of the older program then cannot write into the new schema, and exits. Raises
    SchemaError for a database that this program cannot upgrade.
    """
    with alone(engine) as connection:
        before = _revision(connection)
        _require_known(before, connection)
        if before != head():
            from alembic import command

            command.upgrade(config(connection), "head")
            connection.execute(text("DELETE FROM leases"))
        return before, head()


def downgrade(engine: Engine, revision: str) -> None:
    """Restore the schema of an older revision, or of `base`, which has no tables."""
    from alembic import command

    with alone(engine) as connection:
        command.downgrade(config(connection), revision)


def revision(engine: Engine) -> str | None:
    """Return the revision of the database, None without tables."""
    with translated(), engine.connect() as connection:
        return _revision(connection)


def require(engine: Engine) -> None:
    """Raise SchemaError, naming the command that helps, unless the database has the program's schema."""
    with translated(), engine.connect() as connection:
        present = _revision(connection)
        if present == head():
            return
        _require_known(present, connection)
    if present is None:
        raise EmptyDatabaseError(
            "the database is empty: it has no tables; run `arena init`, or `arena db upgrade`",
            hint="or correct --data or --database",
        )
    raise SchemaError(f"the database has schema {present}, the program needs {head()}; run `arena db upgrade`")


def differences(engine: Engine) -> list[str]:
    """Describe the differences between the database and the models."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with translated(), engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        return [_describe(difference) for difference in compare_metadata(context, SQLModel.metadata)]


@cache
def revisions() -> tuple[str, ...]:
    """Return all known revisions, the oldest first, from their file names."""
    return tuple(sorted(path.stem.removeprefix("rev_") for path in (_FOLDER / "versions").glob("rev_*.py")))


def head() -> str:
    """Return the newest known revision."""
    return revisions()[-1]


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def _require_known(present: str | None, connection: Connection) -> None:
    """Raise SchemaError, with advice, for a schema that no revision of this program made."""
    if present in revisions():
        return
    if present is None:
        if taken := sorted(set(inspect(connection).get_table_names()) & set(SQLModel.metadata.tables)):
            raise SchemaError(
                f"the database has a table {taken[0]} but not the arena's schema: it belongs to another program; "
                "name an empty or a new database with --database"
            )
    elif present.isdecimal() and int(present) < FIRST:
        raise SchemaError(
            f"the database has schema {present} of a program before 1.0, which cannot be upgraded; "
            "start a new arena with `arena init --data NEW`, and read the old one with the program that made it"
        )
    else:
        raise SchemaError(
            f"the database has schema {present}, which is newer than this program or belongs to another one; "
            "upgrade the program, or name the right database with --database"
        )


def config(connection: Connection) -> Config:
    """Return the Alembic configuration for this connection."""
    from alembic.config import Config

    found = Config()
    found.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    found.set_main_option("file_template", "rev_%%(rev)s")
    found.attributes["connection"] = connection
    return found


@contextmanager
def alone(engine: Engine) -> Iterator[Connection]:
    """Open a connection in one transaction that excludes other schema changes."""
    with translated(), Sessions(engine).writer.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        yield connection


def _describe(difference: Any) -> str:
    if isinstance(difference, list):  # changes of one column
        return "; ".join(_describe(each) for each in difference)
    kind, *rest = difference
    return f"{kind} {' '.join(str(getattr(each, 'name', each)) for each in rest if each is not None)}"
