"""The database schema: upgrade it, compare it with the tables, reject another program's.

The revisions are in `arena.migrations`; they run in this process, in one transaction. A feature may have a chain of its
own, with its own table of the present revision, so that it comes and goes without the others. Alembic is imported only
for changing or comparing a schema, because the check at every start needs just one query.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, inspect, text
from sqlmodel import SQLModel

from arena import feature
from arena.errors import EmptyDatabaseError, SchemaError
from arena.store.base.engine import Sessions
from arena.store.base.health import translated
from referee.families import folder_of

if TYPE_CHECKING:
    from alembic.config import Config

_FOLDER = Path(__file__).parents[2] / "migrations"
_VERSIONS = "alembic_version"
FIRST = 1001
"""Number of the first revision. Those before 1.0 were 0001 to 0012 and cannot be upgraded."""
_LOCK = 0x6172656E61  # "arena" in ASCII
"""PostgreSQL advisory lock that serialises upgrades."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain of revisions: that of the core, or of the feature `name`, whose tables begin with its name."""

    name: str
    folder: Path

    @property
    def table(self) -> str:
        return f"{_VERSIONS}_{self.name}" if self.name else _VERSIONS

    def owns(self, table: str) -> bool:
        """Return whether a table belongs to this chain; the core has those of no other chain."""
        if self.name:
            return table.startswith(f"{self.name}_")
        return not table.startswith(f"{_VERSIONS}_") and not any(chain.owns(table) for chain in of_features())


CORE = Chain("", _FOLDER / "versions")


@cache
def of_features() -> tuple[Chain, ...]:
    """Return the chains of all installed features that have one, of those that are off as well."""
    usable = [one.feature for one in feature.enabled((), "tables") if one.feature and one.feature.revisions]
    return tuple(Chain(one.name, folder_of(one.revisions)) for one in usable)


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
        for chain in (CORE, *of_features()):
            if _is_behind(_revision(connection, chain), chain):
                from alembic import command

                command.upgrade(config(connection, chain), "head")
                connection.execute(text("DELETE FROM leases"))
        return before, head()


def waiting(engine: Engine) -> tuple[str, ...]:
    """Return the names of the features whose tables the database lacks, or has in an older form."""
    with translated(), engine.connect() as connection:
        return tuple(chain.name for chain in of_features() if _is_behind(_revision(connection, chain), chain))


def revision(engine: Engine) -> str | None:
    """Return the revision of the database, None without tables."""
    with translated(), engine.connect() as connection:
        return _revision(connection)


def require(engine: Engine) -> None:
    """Raise SchemaError, naming the command that helps, unless the database has the program's schema."""
    with translated(), engine.connect() as connection:
        present = _revision(connection)
        if present == head():
            _require_features(connection)
            return
        _require_known(present, connection)
    if present is None:
        raise EmptyDatabaseError(
            "the database is empty: it has no tables; run `arena init`, or `arena db upgrade`",
            hint="or correct --data or --database",
        )
    raise SchemaError(f"the database has schema {present}, the program needs {head()}; run `arena db upgrade`")


def _require_features(connection: Connection) -> None:
    """Raise SchemaError unless the tables of all features are those of the installed ones."""
    for chain in of_features():
        present = _revision(connection, chain)
        if present not in (None, *revisions(chain)):
            raise SchemaError(
                f"the tables of the feature {chain.name} have revision {present}, which is newer than the installed "
                "one; upgrade its package, or uninstall it"
            )
        if _is_behind(present, chain):
            raise SchemaError(f"the feature {chain.name} needs tables; run `arena db upgrade`")


def differences(engine: Engine) -> list[str]:
    """Describe the differences between the database and the tables, without the tables of uninstalled features."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    feature.load_tables()
    with translated(), engine.connect() as connection:
        chains = [name for name in inspect(connection).get_table_names() if name.startswith(f"{_VERSIONS}_")]
        former = tuple(f"{chain.removeprefix(f'{_VERSIONS}_')}_" for chain in chains)

        def is_compared(name: str | None, kind: str, _: Any) -> bool:
            if kind != "table" or name is None or name in SQLModel.metadata.tables:
                return True
            return name not in chains and not name.startswith(former)

        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": is_compared})
        return [_describe(difference) for difference in compare_metadata(context, SQLModel.metadata)]


@cache
def revisions(chain: Chain = CORE) -> tuple[str, ...]:
    """Return all known revisions, the oldest first, from their file names."""
    return tuple(sorted(path.stem.removeprefix("rev_") for path in chain.folder.glob("rev_*.py")))


def head(chain: Chain = CORE) -> str:
    """Return the newest known revision; an empty text while a new feature has none."""
    return revisions(chain)[-1] if revisions(chain) else ""


def _revision(connection: Connection, chain: Chain = CORE) -> str | None:
    if not inspect(connection).has_table(chain.table):
        return None
    found: str | None = connection.execute(text(f"SELECT version_num FROM {chain.table}")).scalar()  # noqa: S608 - a name of ours
    return found


def _is_behind(present: str | None, chain: Chain) -> bool:
    """Return whether a database with this revision of a chain lacks the newest one."""
    return (present or "") != head(chain)


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


def config(connection: Connection, chain: Chain = CORE) -> Config:
    from alembic.config import Config

    settings = Config()
    # Alembic reads its options with configparser, which replaces what follows a percent sign.
    settings.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    settings.set_main_option("version_locations", str(chain.folder).replace("%", "%%"))
    settings.set_main_option("path_separator", "newline")
    settings.set_main_option("file_template", "rev_%%(rev)s")
    settings.attributes["connection"], settings.attributes["chain"] = connection, chain
    return settings


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
