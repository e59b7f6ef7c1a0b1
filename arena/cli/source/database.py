"""Opens the database that a server's settings name, for commands that work on it directly."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import add_fields, option, read_fields

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.errors import NotFoundError
    from arena.services.arena import Arena
    from arena.store import Store

GROUP = "data folder"
"""Heading of the arguments in the help."""


@dataclass(frozen=True, kw_only=True)
class SettingsArguments:
    """The data folder of an arena, and its settings."""

    data: Path | None = option("data folder (default ./data)", metavar="DIR", group=GROUP)
    config: Path | None = option("settings file (default arena.toml in the data folder)", metavar="FILE", group=GROUP)

    def read(self, **more: Any) -> Settings:
        """Return the settings that the arguments choose; `more` are others that were given. Raises ConfigError."""
        from arena.config_file import read_settings

        return read_settings(self.config, data=self.data, **more)


@dataclass(frozen=True, kw_only=True)
class DatabaseArguments(SettingsArguments):
    """The data folder of an arena, its settings and its database."""

    database: str | None = option("database (default: SQLite in the data folder)", metavar="URL", group=GROUP)

    def read(self, **more: Any) -> Settings:
        """Return the settings that the arguments choose; `more` are others that were given. Raises ConfigError."""
        return SettingsArguments.read(self, database=self.database, **more)


def options_of(settings: Settings) -> str:
    """Return the options, each after a space, that lead a printed command to the same arena."""
    chosen = {
        "--config": settings.named_file,
        "--data": None if settings.data == Path("data") else settings.data,
        # The URL of a database server may have a password, which no message shows.
        "--database": settings.database if settings.database.startswith("sqlite:") else None,
    }
    return "".join(f" {option} {shlex.quote(str(value))}" for option, value in chosen.items() if value)


R = TypeVar("R", bound=DatabaseArguments)


@dataclass(frozen=True)
class ArenaCommand(Generic[R]):
    act: Callable[[Arena, R], int | None]
    record: type[R]

    def listing(self, error: NotFoundError, arguments: argparse.Namespace) -> str:
        """Return the command that lists the known names after one was unknown."""
        raise NotImplementedError

    def declare(self, parser: argparse.ArgumentParser) -> None:
        add_fields(parser, self.record)

    def run(self, arguments: argparse.Namespace) -> int | None:
        """Open the arena and run the command. An error about an unknown name says what lists them all."""
        from arena.errors import NotFoundError
        from arena.services.arena import Arena

        given = self.record(**read_fields(arguments, self.record))
        settings = given.read()
        try:
            with closing(open_store(settings)) as store:
                return self.act(Arena(store, settings), given)
        except NotFoundError as error:
            hint = error.hint or f"`arena {self.listing(error, arguments)}` shows all"
            raise CommandError(f"{error}; {hint}", error.exit) from None


def file_of(settings: Settings) -> Path | None:
    """Return the file of an SQLite database, which need not exist; None for a database server."""
    file = settings.database_url.removeprefix("sqlite:///")
    return None if file == settings.database_url else Path(file)


def refuse_empty(settings: Settings, what: str) -> NoReturn:
    """Raise CommandError because a check has found nothing to check: `what`, such as "no recorded games"."""
    place = file_of(settings) or "the database"
    raise CommandError(f"{what} in {place}: there is nothing to check; look at --data and --database", Exit.NOT_FOUND)


def open_store(settings: Settings, *, any_schema: bool = False) -> Store:
    """Open an existing database; its schema must be the program's, unless `any_schema`.

    Raises CommandError if there is no database, SchemaError for another schema, and StoreUnavailableError.
    """
    from arena.store import Store

    file = file_of(settings)
    if file is not None and not file.exists():
        place = f"no database {file}" if settings.database else f"no arena in {settings.data}"
        raise CommandError(f"{place}; `arena init{options_of(settings)}` makes one", Exit.NOT_FOUND)
    store = Store(settings.database_url)
    try:
        if not any_schema:
            store.require()
    except Exception:
        store.close()
        raise
    return store


def open_new(settings: Settings) -> Store:
    """Open the database whatever its schema; it and the data folder are created if needed."""
    from arena.data_folder import make_folder
    from arena.store import Store

    if not settings.database:
        make_folder(settings.data, is_passage=True)
    return Store(settings.database_url)
