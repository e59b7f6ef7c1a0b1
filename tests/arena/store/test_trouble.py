"""A locked, full, damaged or unreachable database: one clear error, nothing half done, recovery afterwards."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import event

from arena.errors import BadValueError, StorageError, StoreUnavailableError
from arena.store import Store, url_in
from arena.store.base import engine
from arena.store.base.tables.people import User
from tests.arena.field import Field, record_of
from tests.arena.postgres import Cluster


@pytest.fixture
def impatient(tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Create a store that does not wait for locks."""
    monkeypatch.setattr(engine, "BUSY_MS", 20)
    shutil.copy(sqlite_template, tmp_path / "arena.sqlite3")
    store = Store.in_folder(tmp_path)
    yield store
    store.close()


def test_locked_database_is_unavailable(impatient: Store, tmp_path: Path) -> None:
    field = Field(impatient)
    first, second = field.plan(2)
    other = sqlite3.connect(tmp_path / "arena.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="locked"):
        impatient.results.commit(record_of(first))
    assert impatient.games.get(first.id).state == "planned"  # reading still works
    other.execute("ROLLBACK")
    other.close()
    done = [impatient.results.commit(record_of(game)) for game in (first, second)]
    assert [result.number for result in done if result] == [1, 2]


def test_writers_of_one_process_queue_for_their_turn(sqlite_store: Store) -> None:
    event.listen(sqlite_store.engine, "connect", lambda connection, _: connection.execute("PRAGMA busy_timeout=0"))
    barrier = Barrier(8)

    def write(number: int) -> None:
        barrier.wait()
        for step in range(10):
            sqlite_store.users.add(f"user{number}x{step}")

    with ThreadPoolExecutor(barrier.parties) as pool:
        list(pool.map(write, range(barrier.parties)))
    assert sqlite_store.users.find("user7x9")


def test_full_disk_is_reported(sqlite_store: Store) -> None:
    field = Field(sqlite_store)
    games = field.plan(40)
    limit = {"pages": 0}

    def bound(connection: sqlite3.Connection, *_: object) -> None:
        pages = limit["pages"] or connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")

    event.listen(sqlite_store.engine, "checkout", bound)

    def commit_all() -> None:
        for game in games:
            sqlite_store.results.commit(record_of(game))

    with pytest.raises(StoreUnavailableError, match="full"):
        commit_all()
    done = sqlite_store.results.last_commit()
    assert 0 < done < 40
    assert sqlite_store.tournaments.get(field.tournament_id).finished_games == done
    limit["pages"] = 10**6
    commit_all()
    assert sqlite_store.results.last_commit() == 40
    assert sqlite_store.ratings.check() == []


def test_damaged_or_missing_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "arena.sqlite3").write_bytes(b"not a database at all" * 1000)
    with pytest.raises(StoreUnavailableError, match="not a database"):
        Store.in_folder(tmp_path)
    store = Store(url_in(tmp_path / "nowhere"))
    with pytest.raises(StoreUnavailableError, match="unable to open"):
        store.users.page()
    store.close()


def test_unreachable_server_is_reported(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    store = Store("postgresql+psycopg://arena@127.0.0.1:1/arena")
    with pytest.raises(StoreUnavailableError, match=r"refused|failed"):
        store.users.page()
    store.close()


def test_connection_is_restored_after_an_outage(cluster: Cluster) -> None:
    cluster.empty()
    store = Store(cluster.url())
    field = Field(store)
    first, second = field.plan(2)
    assert store.results.commit(record_of(first)) is not None
    cluster.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{cluster.name}'")
    assert store.results.commit(record_of(second)) is not None  # a dead connection is noticed before it is used

    def interrupted() -> None:
        with store.writing() as session:
            session.get(User, field.user_id).role = "admin"  # type: ignore[union-attr]
            cluster.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{cluster.name}'")

    with pytest.raises(StoreUnavailableError):
        interrupted()
    assert store.users.find("zoe").role == "organiser"
    assert store.users.find("zoe").name == "zoe"
    store.close()


def test_exhausted_pool_is_reported(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BUSY_MS", 20)
    cluster.empty()
    store = Store(cluster.url())
    with ThreadPoolExecutor(1) as pool:
        sessions = [store.engine.connect() for _ in range(20)]
        with pytest.raises(StoreUnavailableError, match="in use"):
            pool.submit(store.users.page).result()
        for session in sessions:
            session.close()
        assert pool.submit(store.users.page).result().items == []
    store.close()


def test_values_a_database_cannot_store_raise(store: Store) -> None:
    with pytest.raises(BadValueError):
        store.bots.add("zeta", 10**30)
    with pytest.raises(BadValueError):
        store.users.get(2**70)
    if store.engine.dialect.name == "postgresql":
        with pytest.raises(BadValueError, match="NUL"):
            store.audit.note("x", "a\0b")
    with pytest.raises(BadValueError):
        store.audit.note("x", "\ud800")


@pytest.mark.parametrize(
    "url", ["", "nonsense", "mysql://x/y", "sqlite://", "sqlite:///:memory:", "postgresql+nope://x"]
)
def test_invalid_urls_raise(url: str) -> None:
    with pytest.raises(BadValueError):
        Store(url)


def test_missing_driver_error_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(BadValueError, match=r"needs psycopg, which is not installed; .*'bot-arena\[postgres\]'"):
        engine.open_engine("postgresql+psycopg://x@127.0.0.1/x")


def test_connection_in_use_is_closed_after_its_store(store: Store) -> None:
    used = store.engine.connect()
    driver = used.connection.dbapi_connection
    assert driver is not None
    store.close()
    driver.cursor().execute("SELECT 1")
    used.close()
    with pytest.raises(Exception, match="closed"):
        driver.cursor()


def test_connections_that_cannot_write_are_dropped(sqlite_store: Store) -> None:
    """SQLite opens a file on a read-only disk for reading, and does not notice that the disk can be written again."""
    read_only = [True]

    @event.listens_for(sqlite_store.engine, "connect")
    def connect(connection: sqlite3.Connection, _: object) -> None:
        connection.execute(f"PRAGMA query_only={int(read_only[0])}")

    sqlite_store.engine.dispose()
    for _ in range(2):
        with pytest.raises(StorageError, match="read-only"):
            sqlite_store.users.add("ada")
        with pytest.raises(StorageError, match="read-only"):
            sqlite_store.require_writable()
        assert sqlite_store.users.page().items == []
    read_only[0] = False
    with suppress(StorageError):
        sqlite_store.require_writable()  # it may meet a connection from before once more
    sqlite_store.users.add("ada")
    sqlite_store.require_writable()
    assert [user.name for user in sqlite_store.users.page().items] == ["ada"]


def test_require_writable_of_a_locked_database_raises_and_changes_nothing(impatient: Store, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "arena.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="locked"):
        impatient.require_writable()
    other.execute("ROLLBACK")
    other.close()
    before = impatient.changes.look()
    impatient.require_writable()
    assert impatient.changes.look() == before


def test_require_writable_of_a_standby_server_raises(cluster: Cluster) -> None:
    cluster.empty()
    with closing(Store(cluster.url())) as store:
        store.require_writable()
        with store.engine.begin() as connection:
            connection.exec_driver_sql(
                f"ALTER ROLE arena IN DATABASE {cluster.name} SET default_transaction_read_only = on"
            )
        try:
            with closing(Store(cluster.url())) as other, pytest.raises(StoreUnavailableError, match="read-only"):
                other.require_writable()
        finally:
            with store.engine.begin() as connection:
                connection.exec_driver_sql(
                    f"ALTER ROLE arena IN DATABASE {cluster.name} RESET default_transaction_read_only"
                )
