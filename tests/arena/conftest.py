"""Stores to test with: SQLite always, PostgreSQL where it is installed (always under ARENA_FORBID_SKIPS=1)."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp_jinja2
import jinja2
import pytest
from argon2 import PasswordHasher
from jinja2.bccache import Bucket
from sqlalchemy import create_engine

from arena import credentials
from arena.clock import now
from arena.store import Store
from arena.store.base import engine
from arena.store.people import login_attempts as guesses
from tests.arena import offloaded, postgres
from tests.arena.field import Field
from tests.arena.pages.stage import make_template

Opener = Callable[[str], Store]


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> None:
    """Passwords are hashed as always, but in a millisecond: what that costs is not what tests are about."""
    hasher = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    credentials._hasher = lambda: hasher  # type: ignore[assignment]


@pytest.fixture(scope="session", autouse=True)
def patient_databases() -> None:
    """Who waits for another writer waits for a minute: on a busy machine it may not get its turn for five seconds."""
    engine.BUSY_MS = 60_000


class Statements(dict[Any, Any]):
    """What statements were compiled to, by the kind of database and not by the engine: each test has one of its own."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get((key[0].name, *key[1:]), default)

    def __setitem__(self, key: Any, compiled: Any) -> None:
        super().__setitem__((key[0].name, *key[1:]), compiled)


@pytest.fixture(scope="session", autouse=True)
def compiled_statements() -> Iterator[None]:
    """A statement is compiled once for all tests, not once in each: that would take a tenth of their time."""
    with pytest.MonkeyPatch.context() as patch:
        options = {"compiled_cache": Statements()}
        patch.setattr(engine, "create_engine", partial(create_engine, execution_options=options))
        yield


class Templates(jinja2.BytecodeCache):
    """What templates were compiled to, by their name and text and not by the server: each module has one of its own."""

    def __init__(self) -> None:
        self._codes: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._codes.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key, bucket.checksum] = bucket.code


@pytest.fixture(scope="session", autouse=True)
def compiled_templates() -> Iterator[None]:
    """A template is compiled once for all servers of this process: all of them together take more than a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aiohttp_jinja2, "setup", partial(aiohttp_jinja2.setup, bytecode_cache=Templates()))
        yield


@pytest.fixture(scope="session", autouse=True)
def kept_processes() -> Iterator[None]:
    """Processes that call functions of the rules are kept for the next test."""
    with offloaded.kept_processes():
        yield


@pytest.fixture
def instant(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time passes between log-ins: how long somebody has to wait does not depend on how busy the machine is."""
    at = now()
    monkeypatch.setattr(guesses, "now", lambda: at)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[postgres.Cluster]:
    """A PostgreSQL for this session, with a database for this worker."""
    if postgres.programs() is None:
        pytest.skip("no PostgreSQL in /usr/lib/postgresql, or no psycopg; install postgresql and the extra `postgres`")
    folder = tmp_path_factory.getbasetemp()
    with postgres.cluster(folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) as shared:
        yield shared


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the arena's tables and nothing in them."""
    folder = tmp_path_factory.mktemp("template")
    store = Store.in_folder(folder)
    with store.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    return folder / "arena.sqlite3"


@pytest.fixture(scope="session")
def filled_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with something for every page, which takes seconds to fill: the first worker does it for all."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    with open(folder / "filled.lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "filled").exists():
            make_template(folder / "filled")
    return folder / "filled"


@pytest.fixture
def data_folder(tmp_path: Path, sqlite_template: Path) -> Path:
    """The data folder of an arena in which nothing is."""
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(sqlite_template, folder / "arena.sqlite3")
    return folder


@pytest.fixture
def sqlite_store(tmp_path: Path, sqlite_template: Path) -> Iterator[Store]:
    """An empty store in SQLite."""
    shutil.copy(sqlite_template, tmp_path / "arena.sqlite3")
    store = Store.in_folder(tmp_path)
    yield store
    store.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path, sqlite_template: Path) -> Iterator[Store]:
    """An empty store, once in SQLite and once in PostgreSQL (there one database, emptied before each test)."""
    if request.param == "sqlite":
        shutil.copy(sqlite_template, tmp_path / "arena.sqlite3")
        opened = Store.in_folder(tmp_path)
    else:
        cluster: postgres.Cluster = request.getfixturevalue("cluster")
        cluster.empty()
        opened = Store(cluster.url())
    yield opened
    opened.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def own_store(request: pytest.FixtureRequest, tmp_path: Path, sqlite_template: Path) -> Iterator[Store]:
    """The same with a database of its own, for tests that change its schema."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            shutil.copy(sqlite_template, tmp_path / "arena.sqlite3")
            opened = Store.in_folder(tmp_path)
        else:
            cluster: postgres.Cluster = request.getfixturevalue("cluster")
            opened = Store(stack.enter_context(cluster.database()))
        stack.callback(opened.close)
        yield opened


@pytest.fixture
def field(store: Store) -> Field:
    """The store with a user, four bots and a running tournament without games."""
    return Field(store)
