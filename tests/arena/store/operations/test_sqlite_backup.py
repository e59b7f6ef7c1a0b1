"""SQLite backups: made during use, deleted after some days, restored without losing readable results."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.errors import BadValueError, ConflictError, NotFoundError, StoreUnavailableError
from arena.store import Store, url_in
from arena.store.operations import sqlite_backup
from arena.store.operations.sqlite_backup import SqliteBackups, restore, salvage
from referee.game.record import read_record
from tests.arena.field import Field, record_of
from tests.arena.store.damage import damage

AT = datetime(2026, 5, 1, 2, tzinfo=UTC)


def test_make_copies_a_snapshot_during_writes(sqlite_store: Store, tmp_path: Path) -> None:
    field = Field(sqlite_store)
    field.play(20)
    backups = SqliteBackups(tmp_path / "backups", 7)
    with sqlite_store.writing() as session:
        session.connection().exec_driver_sql("UPDATE users SET name = 'half'")
        path = backups.make(tmp_path / "arena.sqlite3", AT)
    assert path.name == "arena-20260501-020000.sqlite3"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    copy = Store(f"sqlite:///{path}")
    assert copy.users.find("zoe").id == field.user_id
    assert copy.results.last_commit() == 20
    assert copy.ratings.check() == []
    copy.close()


def test_make_writes_at_a_bounded_rate_and_tells_its_progress(
    sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, slept, shares = tmp_path / "arena.sqlite3", [0.0], list[float]()
    with closing(sqlite3.connect(file)) as connection:  # more than SQLite keeps in memory
        rows = "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 2000) SELECT x FROM n"
        connection.execute(f"CREATE TABLE large AS SELECT x, randomblob(4000) FROM ({rows})")
        connection.commit()
    clock = SimpleNamespace(monotonic=lambda: slept[0], sleep=lambda seconds: slept.append(slept.pop() + seconds))
    monkeypatch.setattr(sqlite_backup, "time", clock)
    monkeypatch.setattr(sqlite_backup, "COPY_BYTES_PER_S", 1_000_000)
    monkeypatch.setattr(sqlite_backup, "_STEPS", 10)
    path = SqliteBackups(tmp_path / "backups", 7).make(file, AT, shares.append)
    assert shares == sorted(shares)
    assert 0.5 < shares[-1] <= 1
    seconds = path.stat().st_size / 1_000_000
    assert 0.5 * seconds < slept[0] <= seconds


@pytest.mark.parametrize(("days", "left"), [(1, 2), (3, 4), (60, 10)])
def test_make_deletes_old_backups(sqlite_store: Store, tmp_path: Path, days: int, left: int) -> None:
    backups = SqliteBackups(tmp_path / "backups", days)
    for day in range(10):
        backups.make(tmp_path / "arena.sqlite3", AT + timedelta(days=day))
    (backups.folder / "mine.sqlite3").touch()
    assert len(backups.all()) == left
    last = backups.make(tmp_path / "arena.sqlite3", AT + timedelta(days=400))
    assert backups.all() == [last]
    assert backups.newest() == last
    assert (backups.folder / "mine.sqlite3").exists()
    with pytest.raises(NotFoundError):
        SqliteBackups(tmp_path / "elsewhere", 7).newest()


def test_make_from_damaged_database_raises_and_keeps_backups(sqlite_store: Store, tmp_path: Path) -> None:
    Field(sqlite_store).play(3)
    backups = SqliteBackups(tmp_path / "backups", 0)
    good = backups.make(tmp_path / "arena.sqlite3", AT)
    damage(tmp_path / "arena.sqlite3")
    with pytest.raises(StoreUnavailableError, match="damaged"):
        backups.make(tmp_path / "arena.sqlite3", AT + timedelta(days=9))
    assert list(backups.folder.iterdir()) == [good]


def test_restore_salvages_readable_records(sqlite_store: Store, tmp_path: Path) -> None:
    field, file = Field(sqlite_store), tmp_path / "arena.sqlite3"
    field.play(5)
    later = field.plan(4, first_sequence=6)
    path = SqliteBackups(tmp_path / "backups", 7).make(file, AT)
    for game in later[:3]:
        assert sqlite_store.results.commit(record_of(game))
    with pytest.raises(ConflictError, match=r"is in use .*; stop the arena first"):
        restore(file, path, AT)
    sqlite_store.close()
    damage(file)
    with pytest.raises(BadValueError, match="not a sound backup"):
        restore(path, file, AT)
    with pytest.raises(NotFoundError):
        restore(file, tmp_path / "nothing", AT)
    aside = restore(file, path, AT)
    assert aside is not None
    assert aside.name == "arena.sqlite3.replaced-20260501-020000"
    store = Store(url_in(tmp_path))
    assert store.health.check() == ""
    assert store.results.last_commit() == 5
    records = [read_record(line) for line in salvage(file, aside)]
    assert sorted(record.id for record in records) == sorted(game.id for game in later[:3])
    for record in records:
        assert store.results.commit(record)
    assert store.ratings.check() == []
    store.close()


def test_salvage_omits_damaged_records(sqlite_store: Store, tmp_path: Path) -> None:
    field, file = Field(sqlite_store), tmp_path / "arena.sqlite3"
    games = field.plan(2)
    path = SqliteBackups(tmp_path / "backups", 7).make(file, AT)
    for game in games:
        sqlite_store.results.commit(record_of(game))
    sqlite_store.close()
    damage(file, "records")
    aside = restore(file, path, AT)
    assert aside is not None
    assert list(salvage(file, aside)) == []


def test_restore_without_database_creates_it(sqlite_store: Store, tmp_path: Path) -> None:
    path = SqliteBackups(tmp_path / "backups", 7).make(tmp_path / "arena.sqlite3", AT)
    file = tmp_path / "other" / "arena.sqlite3"
    file.parent.mkdir()
    assert restore(file, path, AT) is None
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM users").fetchone() == (0,)
