"""Opens the database a server's settings name, for commands that work on it directly."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.exit import CommandError, Exit

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.store import Store


def add_database(parser: argparse.ArgumentParser) -> None:
    """The arguments that say which database is meant."""
    parser.add_argument("--data", type=Path, metavar="DIR", help="data folder (default ./data)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings (default arena.toml in the data folder)")
    parser.add_argument("--database", metavar="URL", help="database (default: SQLite in the data folder)")


def settings_of(arguments: argparse.Namespace) -> Settings:
    """The settings those arguments lead to. Raises ConfigError."""
    from arena.config import read_settings

    return read_settings(arguments.config, data=arguments.data, database=arguments.database)


def open_store(settings: Settings) -> Store:
    """The store, its schema being the program's.

    Raises CommandError where there is no arena, SchemaError, StoreUnavailableError.
    """
    from arena.store import Store

    file = settings.database_url.removeprefix("sqlite:///")
    if file != settings.database_url and not Path(file).exists():
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
    """The store whatever its schema, for what makes or mends that; the data folder is made if need be."""
    from arena.data_folder import make_folder
    from arena.store import Store

    if not settings.database:
        make_folder(settings.data, is_passage=True)
    return Store(settings.database_url)
