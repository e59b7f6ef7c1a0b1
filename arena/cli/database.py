"""Opens the database a server's settings name, for commands that work on it directly. Refuses to know what they do."""

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
    """The settings those arguments lead to. Raises CommandError."""
    from arena.config import ConfigError, read_settings

    try:
        return read_settings(arguments.config, data=arguments.data, database=arguments.database)
    except ConfigError as error:
        raise CommandError(str(error)) from None


def open_store(settings: Settings) -> Store:
    """The store, its schema being the program's. Raises CommandError naming what to do."""
    from arena.store import SchemaError, Store, StoreUnavailableError

    file = settings.database_url.removeprefix("sqlite:///")
    if file != settings.database_url and not Path(file).exists():
        raise CommandError(f"no arena in {settings.data}; `arena init` makes one", Exit.NOT_FOUND)
    store = Store(settings.database_url)
    try:
        store.require()
    except SchemaError as error:
        store.close()
        raise CommandError(str(error), Exit.FAILED) from None
    except StoreUnavailableError as error:
        store.close()
        raise CommandError(str(error), Exit.UNREACHABLE) from None
    return store
