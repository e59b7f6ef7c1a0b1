"""One server per module, with a database that is filled once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.store import Store
from tests.arena.api.filled import Arena, fill
from tests.arena.api.server import Server, settings_in


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Server]:
    """A server with an empty database."""
    folder: Path = tmp_path_factory.mktemp("data")
    shutil.copy(sqlite_template, folder / "arena.sqlite3")
    store = Store.in_folder(folder)
    running = Server(store, settings_in(folder))
    running.unlimited()
    yield running
    running.close()
    store.close()


@pytest.fixture(scope="module")
def arena(server: Server) -> Arena:
    """A server with users, bots, a finished and a running tournament, and games of every termination class."""
    return fill(server)
