"""The schema: revisions match the tables, other schemas are rejected, upgrades."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, MetaData, text
from sqlmodel import SQLModel

from arena.errors import SchemaError
from arena.store import Store, url_in
from arena.store.archive.archived_game import ArchivedGame
from arena.store.archive.entry import packed
from arena.store.base import schema
from referee.bot.file import BotFile
from tests.arena.postgres import Cluster


def test_revisions_give_the_tables(own_store: Store) -> None:
    assert schema.revision(own_store.engine) == schema.head()
    assert schema.differences(own_store.engine) == []


def empty(engine: Engine) -> None:
    """Remove all tables of the arena."""
    with engine.begin() as connection:
        SQLModel.metadata.drop_all(connection)
        for chain in (schema.CORE, *schema.of_features()):
            connection.execute(text(f"DELETE FROM {chain.table}"))


def test_revisions_equal_those_of_alembic(own_store: Store) -> None:
    with schema.alone(own_store.engine) as connection:
        scripts = ScriptDirectory.from_config(schema.config(connection))
        assert MigrationContext.configure(connection).get_current_revision() == schema.revision(own_store.engine)
    assert tuple(one.revision for one in scripts.walk_revisions())[::-1] == schema.revisions()


def test_start_imports_neither_alembic_nor_numba() -> None:
    code = "import sys, arena.app, arena.coordinator.assembly; sys.exit(bool({'alembic', 'numba'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_upgrade_of_an_empty_database_makes_the_schema(own_store: Store) -> None:
    empty(own_store.engine)
    with pytest.raises(SchemaError, match="arena init"):
        own_store.require()
    assert own_store.upgrade() == (None, schema.head())
    own_store.require()
    assert schema.differences(own_store.engine) == []


def test_upgrade_keeps_the_bots_of_1_0(tmp_path: Path) -> None:
    store = Store(url_in(tmp_path))
    made = datetime(2026, 11, 27, tzinfo=UTC)
    user = {"name": "zoe", "role": "author", "is_active": True, "about": "", "link": "", "email": ""}
    bot = {"name": "zeta", "owner_id": 1, "description": "", "is_retired": False, "plays_people": False}
    version = {"bot_id": 1, "number": 1, "name": "zeta v1", "bundle": "", "size_bytes": 1, "command": ["./bot"]}
    version |= {"options": {"Hash": "1"}, "limits": {}, "capabilities": {}, "report": {}, "log": "", "problem": ""}
    version |= {"state": "active", "place": ""}
    with schema.alone(store.engine) as connection:
        command.upgrade(schema.config(connection), "1001")
        tables = MetaData()
        tables.reflect(connection)
        for name, row in (("users", user), ("bots", bot), ("versions", version)):
            connection.execute(tables.tables[name].insert(), {**row, "created_at": made})
    assert store.upgrade() == ("1001", schema.head())
    kept = store.versions.find("zeta")
    assert (kept.name, kept.bot_file) == ("zeta v1", BotFile(("./bot",), options={"Hash": "1"}))
    store.close()


def test_upgrade_takes_back_the_reasons_that_imported_texts_did_not_give(tmp_path: Path) -> None:
    store = Store(url_in(tmp_path))
    made = [_imported("resigned"), _imported("draw-agreed"), _imported("stopped")]
    with schema.alone(store.engine) as connection:
        command.upgrade(schema.config(connection), "1001")
        tables = MetaData()
        tables.reflect(connection)
        words = {word: number for number, word in enumerate(("loa standard", "resigned", "draw-agreed", "stopped"), 1)}
        for word, number in words.items():
            kind = "termination" if number > 1 else "variant"
            row = {"id": number, "kind": kind, "name": word, "folded": word}
            connection.execute(tables.tables["archive_names"].insert(), row)
        for serial, game in enumerate(made, 1):
            row = {"serial": serial, "game_id": f"{serial:040}", "label": "", "termination_id": words[game.termination]}
            row |= dict.fromkeys(("variant_id", "first_id", "second_id", "source_id", "pool_id"), 1)
            connection.execute(tables.tables["archive_games"].insert(), {**row, "winner": 1, "plies": 1, "day": 0})
            connection.execute(tables.tables["archive_texts"].insert(), {"serial": serial, "data": packed(game)})
    store.upgrade()
    for serial, word in enumerate(("unstated", "unstated", "stopped"), 1):
        assert store.archive.get(serial).termination == store.archive.line(serial).termination == word
    store.close()


def _imported(termination: str) -> ArchivedGame:
    return ArchivedGame(
        id="",
        family="loa",
        variant="standard",
        options={},
        position="",
        moves=("b1b3",),
        first="Ada",
        second="Bob",
        winner="first",
        termination=termination,
    )


def test_upgrade_twice_does_nothing(own_store: Store) -> None:
    assert own_store.upgrade() == (schema.head(), schema.head())


def test_unknown_schema_raises(own_store: Store) -> None:
    with own_store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'zzzz'"))
    with pytest.raises(SchemaError, match="newer than this program"):
        own_store.require()
    with pytest.raises(SchemaError, match="newer than this program"):
        own_store.upgrade()


@pytest.mark.parametrize("number", ["0001", "0012"])
def test_schema_before_1_0_raises(own_store: Store, number: str) -> None:
    with own_store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :number"), {"number": number})
    for act in (own_store.require, own_store.upgrade):
        with pytest.raises(SchemaError, match=rf"schema {number} of a program before 1.0.*arena init --data NEW"):
            act()
    assert schema.revision(own_store.engine) == number


def test_older_schema_error_names_the_command(own_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = str(int(schema.head()) + 1)
    found = (*schema.revisions(), newer)
    monkeypatch.setattr(schema, "revisions", lambda chain=schema.CORE: found)
    with pytest.raises(SchemaError, match=f"the program needs {newer}; run `arena db upgrade`"):
        own_store.require()


def test_tables_of_another_program_are_not_touched(own_store: Store) -> None:
    empty(own_store.engine)
    with own_store.engine.begin() as connection:
        connection.execute(text("CREATE TABLE users (id INTEGER)"))
        connection.execute(text("DROP TABLE alembic_version"))
    for act in (own_store.require, own_store.upgrade):
        with pytest.raises(SchemaError, match=r"a table users but not the arena's schema.*--database"):
            act()


def test_store_without_tables_raises(tmp_path: Path) -> None:
    store = Store(url_in(tmp_path))
    with pytest.raises(SchemaError, match="arena db upgrade"):
        store.users.page()
    store.close()


def test_in_folder_older_schema_raises(tmp_path: Path) -> None:
    store = Store.in_folder(tmp_path)
    empty(store.engine)
    with store.engine.begin() as connection:
        connection.execute(text("CREATE TABLE other (id INTEGER)"))
    store.close()
    with pytest.raises(SchemaError, match="arena db upgrade"):
        Store.in_folder(tmp_path)


def test_concurrent_upgrades_succeed(cluster: Cluster) -> None:
    with cluster.database("template1") as url:
        stores = [Store(url) for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            before = [result[0] for result in pool.map(lambda store: store.upgrade(), stores)]
        assert before.count(None) == 1
        for store in stores:
            store.close()


def test_concurrent_upgrades_of_a_file_succeed(tmp_path: Path) -> None:
    stores = [Store(url_in(tmp_path)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        before = [result[0] for result in pool.map(lambda store: store.upgrade(), stores)]
    assert before.count(None) == 1
    for store in stores:
        store.close()
