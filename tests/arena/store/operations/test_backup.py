"""Dumps: loading restores all rows, from either database into either."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
import zstandard
from sqlalchemy import text

from arena.errors import BadValueError, ConflictError
from arena.store import Store
from arena.store.base.engine import Sessions
from arena.store.operations.backup import dump, load, load_new
from tests.arena.field import Field, record_of, void_of


def rows(store: Store, table: str) -> list[str]:
    with Sessions(store.engine).reading() as session:
        return sorted(str(tuple(row)) for row in session.execute(text(f"SELECT * FROM {table}")))


@pytest.mark.parametrize("name", ["all.ndjson", "all.ndjson.zst"])
def test_dump_and_load_restore_all_rows(
    name: str, store: Store, field: Field, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("dump")
    game = field.plan(1)[0]
    store.voids.add(void_of(game), 1)
    field.play(20)
    field.versions[0] = field.version("ada")
    count = dump(store.engine, folder / name)
    with pytest.raises(FileExistsError):
        dump(store.engine, folder / name)
    other = Store.in_folder(folder / "other")
    assert load(other.engine, folder / name) == count
    assert other.ratings.check() == []
    assert other.games.get(game.id) == store.games.get(game.id)
    assert other.games.record(game.id) == store.games.record(game.id)
    assert other.ratings.leaderboard("loa") == store.ratings.leaderboard("loa")
    if store.engine.dialect.name == "sqlite":
        for table in ("games", "ratings", "rating_changes", "versions", "voids", "counters", "audit", "entries"):
            assert rows(other, table) == rows(store, table)
    with pytest.raises(ConflictError, match="not empty"):
        load(other.engine, folder / name)
    again = Field.__new__(Field)  # new rows get ids after the loaded ones
    again.store, again.versions, again.tournament_id = other, field.versions, field.tournament_id
    again.user_id = field.user_id
    done = other.results.commit(record_of(again.plan(1, first_sequence=21)[0]))
    assert done is not None
    assert done.number == 21
    assert other.users.add("new").id not in (None, field.user_id)
    other.close()


def test_sqlite_dump_loads_into_postgresql(sqlite_store: Store, cluster, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    field = Field(sqlite_store)
    field.play(10)
    count = dump(sqlite_store.engine, tmp_path / "all.zst")
    cluster.empty()
    other = Store(cluster.url())
    assert load(other.engine, tmp_path / "all.zst") == count
    assert other.ratings.check() == []
    assert other.users.add("new").id == field.user_id + 1
    other.close()


def test_load_invalid_dump_raises(sqlite_store: Store, tmp_path: Path) -> None:
    field = Field(sqlite_store)
    field.play(5)
    whole = tmp_path / "whole.ndjson"
    dump(sqlite_store.engine, whole)
    data = whole.read_bytes()
    empty = Store.in_folder(tmp_path / "empty")
    broken = {
        "cut.ndjson": data[: data.rindex(b"\n", 0, -1) + 1],
        "torn.ndjson": data[:-5],
        "other.ndjson": b'{"form":"x"}\n',
        "text.ndjson": b"hello\n",
        "empty.ndjson": b"",
        "newer.ndjson": data.replace(b'"schema":"1', b'"schema":"9', 1),
        "older.ndjson": data.replace(b'"schema":"1', b'"schema":"0', 1),
        "cut.ndjson.zst": zstandard.ZstdCompressor().compress(data)[:-20],
        "none.ndjson.zst": data,
    }
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadValueError):
            load(empty.engine, tmp_path / name)
        assert empty.users.page().items == []
        assert empty.results.last_commit() == 0
    assert load(empty.engine, whole) > 0
    empty.close()


def test_load_new_cut_dump_leaves_nothing(sqlite_store: Store, tmp_path: Path) -> None:
    Field(sqlite_store).play(2)
    whole, cut = tmp_path / "whole.ndjson", tmp_path / "cut.ndjson"
    dump(sqlite_store.engine, whole)
    cut.write_bytes(whole.read_bytes()[:-20])
    file = tmp_path / "new" / "arena.sqlite3"
    with pytest.raises(BadValueError):
        load_new(file, cut)
    assert not file.parent.exists()
    load_new(file, whole)
    assert list(file.parent.iterdir()) == [file]
    other = Store(f"sqlite:///{file}")
    assert other.results.last_commit() == 2
    other.close()


def test_load_new_full_disk_leaves_nothing(
    sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Field(sqlite_store).play(2)
    whole = tmp_path / "whole.ndjson"
    dump(sqlite_store.engine, whole)

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("arena.store.operations.backup.replace_durably", fail)
    file = tmp_path / "kept" / "arena.sqlite3"
    file.parent.mkdir()
    with pytest.raises(OSError, match="No space"):
        load_new(file, whole)
    assert list(file.parent.iterdir()) == []
