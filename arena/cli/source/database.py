"""Opens the database that a server's settings name, for commands that work on it directly."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from arena.cli.terminal.exit import CommandError, Exit

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.store import Store


def add_settings(parser: argparse.ArgumentParser, data: str = "data folder", *, has_database: bool = False) -> None:
    """Add the arguments that choose a data folder, its settings and its database; `data` is the help of `--data`."""
    group = parser.add_argument_group("data folder")
    group.add_argument("--data", type=Path, metavar="DIR", help=f"{data} (default ./data)")
    group.add_argument(
        "--config", type=Path, metavar="FILE", help="settings file (default arena.toml in the data folder)"
    )
    if has_database:
        group.add_argument("--database", metavar="URL", help="database (default: SQLite in the data folder)")


def add_database(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose a database."""
    add_settings(parser, has_database=True)


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return the settings that the arguments choose. Raises ConfigError."""
    from arena.config import read_settings

    return read_settings(arguments.config, data=arguments.data, database=arguments.database)


def file_of(settings: Settings) -> Path | None:
    """Return the file of an SQLite database, which need not exist; None for a database server."""
    file = settings.database_url.removeprefix("sqlite:///")
    return None if file == settings.database_url else Path(file)


def refuse_empty(settings: Settings, what: str) -> NoReturn:
    """Raise CommandError because a check has found nothing to check: `what`, such as "no recorded games"."""
    place = file_of(settings) or "the database"
    raise CommandError(f"{what} in {place}: there is nothing to check; look at --data and --database", Exit.NOT_FOUND)


def open_store(settings: Settings) -> Store:
    """Open the database; its schema must be the program's.

    Raises CommandError if there is no database, SchemaError for another schema, and StoreUnavailableError.
    """
    from arena.store import Store

    file = file_of(settings)
    if file is not None and not file.exists():
        place = f"no database {file}" if settings.database else f"no arena in {settings.data}"
        raise CommandError(f"{place}; `arena init` makes one", Exit.NOT_FOUND)
    store = Store(settings.database_url)
    try:
        store.require()
    except Exception:
        store.close()
        raise
    return store


def open_any(settings: Settings) -> Store:
    """Open the database whatever its schema, to create or repair it; the data folder is created if needed."""
    from arena.data_folder import make_folder
    from arena.store import Store

    if not settings.database:
        make_folder(settings.data, is_passage=True)
    return Store(settings.database_url)
