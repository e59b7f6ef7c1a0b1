"""A damaged database: detected, logged once, closed to writes, and sound again after replacement."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from arena.errors import DamagedDatabaseError
from arena.store import Store, url_in
from arena.store.base.health import mark_of
from tests.arena.field import Field, record_of
from tests.arena.store.damage import damage


@pytest.fixture
def field(sqlite_store: Store) -> Field:
    """Store twenty games in SQLite."""
    found = Field(sqlite_store)
    found.play(20)
    return found


def test_sound_database_has_no_damage(field: Field, tmp_path: Path) -> None:
    assert field.store.health.check() == ""
    assert field.store.health.damage == ""
    field.store.health.require_sound()
    assert list(tmp_path.glob("*.damage")) == []


def test_database_server_is_not_checked(store: Store) -> None:
    if store.engine.dialect.name == "postgresql":
        assert store.health.file is None
        assert store.health.check() == ""


def test_overwritten_page_is_found_and_blocks_writes(field: Field, tmp_path: Path) -> None:
    store, other = field.store, Store(url_in(tmp_path))
    waiting = field.plan(1, first_sequence=21)[0]
    with capture_logs() as said:
        damage(tmp_path / "arena.sqlite3")
        assert other.health.damage == ""
        assert "malformed" in store.health.check()
        for process in (store, other, Store(url_in(tmp_path))):  # this process, another one, a later one
            with pytest.raises(DamagedDatabaseError, match="the database is damaged") as caught:
                process.results.commit(record_of(waiting))
            assert "arena db restore" in caught.value.hint
            assert process.games.get(waiting.id).state == "planned"  # reading still works
            process.close()
        store.health.check()
    assert [line["event"] for line in said].count("database damaged") == 3, "each process logs it once"


def test_damage_met_by_query_is_recorded(field: Field, tmp_path: Path) -> None:
    field.store.close()
    damage(tmp_path / "arena.sqlite3", "ratings")
    store = Store(url_in(tmp_path))
    with pytest.raises(DamagedDatabaseError):
        store.ratings.leaderboard("loa")
    assert store.health.damage
    assert mark_of(tmp_path / "arena.sqlite3").exists()
    with pytest.raises(DamagedDatabaseError):
        store.users.add("ada")
    store.close()


def test_replaced_file_is_sound_again(field: Field, tmp_path: Path) -> None:
    file, copy = tmp_path / "arena.sqlite3", tmp_path / "copy"
    field.store.close()
    shutil.copy(file, copy)
    damage(file)
    assert Store(url_in(tmp_path)).health.check()
    shutil.copy(copy, file)
    store = Store(url_in(tmp_path))
    store.users.add("ada")
    assert not mark_of(file).exists()
    store.close()
