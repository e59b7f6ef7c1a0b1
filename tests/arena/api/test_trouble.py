"""A full disk and a locked or unreachable database: 503, no partial writes, and recovery."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from arena.cli.server import doctor
from arena.clock import now
from arena.collections.dumps import Dumps
from arena.errors import StorageError, StoreUnavailableError
from arena.http.problem import PREFIX
from arena.metrics import CoordinatorMetrics
from arena.store import Store, url_in
from arena.store.base import engine
from tests.arena.api.filled import Arena, fill, planned, play, record_of
from tests.arena.api.server import Server, settings_in
from tests.arena.coordinator.stage import Dice, Stage
from tests.arena.postgres import Cluster
from tests.arena.store.damage import damage

SCRIPT = b"#!/bin/sh\nexit 0\n"


def served(store: Store, folder: Path) -> Iterator[Arena]:
    """Run a server on a store."""
    server = Server(store, settings_in(folder))
    server.unlimited()
    yield fill(server)
    server.close()
    store.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes."""
    if os.getuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def cramped(small_disk: Path) -> Iterator[Arena]:
    """An arena on the small disk."""
    yield from served(Store.in_folder(small_disk), small_disk)


def fill_up(folder: Path) -> Path:
    """Fill the disk; return the file that occupies it."""
    file = folder / "ballast"
    with open(file, "wb", buffering=0) as target:
        for size in (64 * 1024, 4096, 1):
            try:
                while True:
                    target.write(b"\0" * size)
            except OSError:
                continue
    return file


def test_a_full_disk_under_everything(cramped: Arena, small_disk: Path) -> None:
    server, store, token = cramped.server, cramped.store, cramped.tokens["author"]
    path = f"{PREFIX}/bots/fresh/versions?family=loa"
    waiting = planned(store, cramped.running)
    before = store.results.last_commit()
    ballast = fill_up(small_disk)
    # Uploading.
    assert server.get("/readyz").json["parts"]["disk"] == "full"
    assert (server.get("/readyz").status, server.get("/readyz").json["status"]) == (200, "degraded")
    reply = server.post(path, token=token, data=SCRIPT + os.urandom(40_000))
    assert reply.status == 507, reply.body
    assert "the disk of the server is full" in reply.json["detail"]
    assert "free disk space" in reply.json["hint"]
    assert int(reply.headers["Retry-After"]) > 0
    assert reply.headers["Content-Type"] == "application/problem+json"
    # Committing: some may still find room in what the log of the database has already.
    done = 0

    def commit_all() -> None:
        nonlocal done
        for game in waiting:
            store.results.commit(record_of(game, plies=100_000))
            done += 1
            fill_up(small_disk)

    with pytest.raises(StoreUnavailableError, match=r"full|disk"):
        commit_all()
    assert store.results.last_commit() - before == done < len(waiting)
    # Writing the archive.
    with pytest.raises(OSError, match="No space"):
        Dumps.of(server.context.settings).update(store)
    # Reading goes on.
    assert server.get(f"{PREFIX}/games?limit=1").status == 200
    assert server.get(f"{PREFIX}/bots/fresh").status == 404
    ballast.unlink()
    assert server.get("/readyz").json["degraded"] == ["referee"]
    assert server.post(path, token=token, data=SCRIPT).status == 202
    for game in waiting:
        store.results.commit(record_of(game))
    assert store.results.last_commit() == before + len(waiting)
    assert store.ratings.check() == []
    assert Dumps.of(server.context.settings).update(store) == before + len(waiting)
    assert Dumps.of(server.context.settings).check() == []
    stored = [path for path in (small_disk / "bundles").rglob("*") if path.is_file()]
    assert len(stored) == 1, "of the upload that failed nothing is left"
    assert not list((small_disk / "unpacked").glob("work-*"))


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "is full"), (errno.EROFS, "cannot be written"), (errno.EACCES, "cannot be used")],
)
def test_upload_disk_refuses_is_answered_507_with_the_reason(
    tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    shutil.copy(sqlite_template, tmp_path / "arena.sqlite3")
    for arena in served(Store.in_folder(tmp_path), tmp_path):

        def fail(**_: object) -> None:
            raise OSError(number, os.strerror(number), "/secret/place")

        monkeypatch.setattr(tempfile, "TemporaryFile", fail)
        path = f"{PREFIX}/bots/fresh/versions?family=loa"
        reply = arena.server.post(path, token=arena.tokens["author"], data=SCRIPT)
        assert reply.status == 507, reply.body
        assert words in reply.json["detail"]
        assert "secret" not in reply.body.decode()
        ready = arena.server.get("/readyz")
        assert (ready.status, ready.json["status"]) == (200, "degraded")
        assert ready.json["parts"]["disk"] == ("full" if number == errno.ENOSPC else "unwritable")
        assert arena.server.get(f"{PREFIX}/bots/zeta").status == 200


def _write(store: Store, *statements: str) -> None:
    with store.writing() as session:
        for statement in statements:
            session.connection().exec_driver_sql(statement)


def test_database_that_cannot_grow_is_a_storage_error(sqlite_store: Store) -> None:
    with pytest.raises(StorageError, match="the database cannot grow"):
        _write(sqlite_store, "PRAGMA max_page_count=1", "CREATE TABLE much AS SELECT randomblob(1000000)")
    _write(sqlite_store, "PRAGMA max_page_count=4294967294", "CREATE TABLE much AS SELECT randomblob(1000000)")


def test_read_only_database_is_a_storage_error(sqlite_store: Store) -> None:
    with pytest.raises(StorageError, match="read-only"):
        _write(sqlite_store, "PRAGMA query_only=1", "CREATE TABLE more (id INTEGER)")


def _let_go(store: Store, folder: Path) -> None:
    """Close the files of a database as a kill does: files open for writing keep a disk from becoming read-only."""
    left = {file: file.read_bytes() for file in folder.glob("arena.sqlite3-*")}
    assert left
    store.engine.dispose()
    for file, data in left.items():
        file.write_bytes(data)


def test_arena_that_started_on_a_read_only_disk_recovers_when_it_can_be_written(small_disk: Path) -> None:
    store = Store.in_folder(small_disk)
    store.users.add("ada")
    _let_go(store, small_disk)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    server = Server(Store(url_in(small_disk)), settings_in(small_disk))
    try:
        reply = server.get("/readyz")
        assert (reply.status, reply.json["status"]) == (200, "degraded"), "reading works"
        assert reply.json["parts"]["database"] == "read-only"
        assert reply.json["parts"]["disk"] == "unwritable"
        with pytest.raises(StorageError):
            server.store.users.add("bob")
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
        server.get("/readyz")
        server.store.users.add("bob")
        assert server.get("/readyz").json["degraded"] == ["referee"]
    finally:
        server.close()
        server.store.close()


@pytest.mark.parametrize("trouble", ["read-only", "locked"])
def test_finished_games_that_the_disk_does_not_accept_are_reported_and_committed_later(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    monkeypatch.setattr(engine, "BUSY_MS", 200)
    monkeypatch.setattr("arena.cluster.spool.LATE_S", 0.0)
    store = Store.in_folder(small_disk)
    stage, dice = Stage(store, small_disk), Dice(is_held=True)
    number = stage.create(games=2)
    server = Server(store, settings_in(small_disk))
    spool = server.context.arena.spool
    coordinator = stage.coordinator(dice, spool=spool, metrics=CoordinatorMetrics(server.context.metrics))
    coordinator.turn()
    dice.begin()
    ready = server.get("/readyz").json
    assert (ready["parts"]["results"], ready["results_waiting"], ready["results_waiting_since"]) == ("ok", 0, None)
    with contextlib.ExitStack() as trouble_ends:
        if trouble == "read-only":
            _let_go(store, small_disk)
            subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
            trouble_ends.callback(subprocess.run, ["mount", "-o", "remount,rw", str(small_disk)], check=True)
        else:
            other = trouble_ends.enter_context(contextlib.closing(sqlite3.connect(small_disk / "arena.sqlite3")))
            other.execute("BEGIN IMMEDIATE")
        future, games = dice.held.pop(0)
        for game in games:
            spool.keep(record_of(game))
            coordinator.recorder.game_ended(game.id)
        future.set_result([])
        with pytest.raises(StoreUnavailableError):
            coordinator.turn()
        reply = server.get("/readyz")
        assert (reply.status, reply.json["status"]) == (200, "degraded")
        assert reply.json["parts"]["results"] == "waiting"
        referee = server.get(f"{PREFIX}/referee").json
        since = datetime.fromisoformat(referee["results_waiting_since"])
        for document in (reply.json, referee):
            assert document["results_waiting"] == 2
            assert datetime.fromisoformat(document["results_waiting_since"]) == since
        assert timedelta(0) <= now() - since < timedelta(minutes=5)
        assert b"waiting to be stored in the database: 2, since" in server.get("/workers").body
        metric = coordinator.metrics.registry.get_sample_value
        assert metric("arena_results_waiting") == 2
        assert (metric("arena_results_waiting_seconds") or 0) > 0
        parts = {part.name: part for part in doctor.examine(stage.settings)}
        if trouble == "read-only":
            assert "results wait in the memory of a running referee" in parts["data folder"].detail
            assert (parts["data folder"].state, parts["sqlite"].state) == ("broken", "broken")
        else:
            assert parts["results"].detail.startswith("2 wait for the database in ")
            assert f"{since:%F %T} UTC" in parts["results"].detail
    with contextlib.suppress(StoreUnavailableError):
        coordinator.turn()  # a connection opened on the read-only disk fails once more
    dice.is_held = False
    dice.release()
    while stage.tournament(number).state != "finished":
        coordinator.turn()
    stage.check_exactly_once(number, 12)
    ready = server.get("/readyz").json
    assert (ready["status"], ready["parts"]["results"], ready["results_waiting"]) == ("ok", "ok", 0)
    server.close()
    store.close()


def test_a_database_another_process_keeps_locked(
    tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_MS", 200)
    shutil.copy(sqlite_template, tmp_path / "arena.sqlite3")
    for arena in served(Store.in_folder(tmp_path), tmp_path):
        server, token = arena.server, arena.tokens["author"]
        path = f"{PREFIX}/bots/zeta"
        other = sqlite3.connect(tmp_path / "arena.sqlite3", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        reply = server.ask("PATCH", path, token=token, body={"description": "new words"})
        assert reply.status == 503, reply.body
        assert int(reply.headers["Retry-After"]) > 0
        assert server.get(path).json["description"] == "a bot of the author"
        ready = server.get("/readyz")
        assert (ready.status, ready.json["status"], ready.json["parts"]["database"]) == (200, "degraded", "locked")
        other.execute("ROLLBACK")
        other.close()
        assert server.ask("PATCH", path, token=token, body={"description": "new words"}).status == 200
        assert server.get(path).json["description"] == "new words"


def test_damaged_database_is_reported(tmp_path: Path, sqlite_template: Path) -> None:
    shutil.copy(sqlite_template, tmp_path / "arena.sqlite3")
    for arena in served(Store.in_folder(tmp_path), tmp_path):
        server, token = arena.server, arena.tokens["author"]
        assert server.get("/healthz").json["database"] == server.get("/readyz").json["parts"]["database"] == "ok"
        assert b"damaged" not in server.get("/bots").body
        damage(tmp_path / "arena.sqlite3")
        arena.store.health.check()
        assert (server.get("/healthz").status, server.get("/healthz").json["database"]) == (200, "damaged")
        reply = server.get("/readyz")
        assert (reply.status, reply.json["parts"]["database"]) == (503, "damaged")
        reply = server.ask("PATCH", f"{PREFIX}/bots/zeta", token=token, body={"description": "new words"})
        assert (reply.status, reply.json["detail"]) == (503, "the database is damaged: restore a backup")
        assert "arena db restore" in reply.json["hint"]
        assert "Retry-After" not in reply.headers, "trying again does not help"
        assert server.get(f"{PREFIX}/bots/zeta").json["description"] == "a bot of the author"
        assert b"database is damaged" in server.get("/workers").body


def test_postgresql_outage_ends_in_recovery(cluster: Cluster, tmp_path: Path) -> None:
    with cluster.database() as url:
        store = Store(url)
        for arena in served(store, tmp_path):
            server, token = arena.server, arena.tokens["author"]
            name = url.rsplit("/", 1)[1]
            assert server.get("/readyz").status == 200
            cluster.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            cluster.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
            reply = server.ask("PATCH", f"{PREFIX}/bots/zeta", token=token, body={"description": "new words"})
            assert reply.status == 503, reply.body
            assert int(reply.headers["Retry-After"]) > 0
            assert name.encode() not in reply.body
            assert server.get(f"{PREFIX}/bots/zeta?").status in (200, 503)
            assert server.get("/readyz").status == 503
            assert server.get("/healthz").status == 200
            with pytest.raises(StoreUnavailableError):
                store.results.last_commit()
            cluster.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
            reply = server.ask("PATCH", f"{PREFIX}/bots/zeta", token=token, body={"description": "new words"})
            assert reply.status == 200, reply.body
            play(store, planned(store, arena.running)[0])
            assert server.get("/readyz").status == 200
            assert store.ratings.check() == []
