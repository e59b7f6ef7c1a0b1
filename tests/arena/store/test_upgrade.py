"""A database full of games that was made by an older schema: brought up, brought down, restored from its backup.

`data/schema-0001.ndjson.zst` is what `arena db dump` wrote of an arena of the first schema: people, bots, a schedule,
tournaments with games that are planned, queued, running, finished, void and cancelled, ratings, attempts.
"""

from __future__ import annotations

import base64
import io
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard
from alembic import command
from sqlalchemy import Connection, DateTime, LargeBinary, MetaData, Table, insert, select

from arena.store import SchemaError, Store, schema, url_in
from arena.store.backup import load
from referee.verification import verify

DUMP = Path(__file__).parent / "data" / "schema-0001.ndjson.zst"
OWNER = "old-machine:4242:0a1b2c3d-77:0a1b2c3d"
"""Who owned the lease when the old arena was left."""
RENAMED = {("games", "worker"): "lease_owner", ("voids", "worker"): "lease_owner", ("leases", "holder"): "owner"}
ADDED = {
    **{"tokens": {"parent_id": None}, "games": {"worker": ""}, "entries": {"suspended": ""}},
    **{"users": {"about": "", "link": ""}, "versions": {"place": ""}, "bots": {"plays_people": False}},
    **{"tournaments": {"findings": None}},
}
NEW_TABLES = (
    *("analyses", "analysis_requests", "curves", "guesses", "known_places"),
    *("people_games", "presences"),
    *("archive_games", "archive_names", "archive_parts", "archive_positions", "archive_texts"),
)
Rows = dict[str, list[dict[str, Any]]]


def dumped() -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of the old arena with their tables."""
    with open(DUMP, "rb") as file:
        for line in io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file)):
            found = json.loads(line)
            if "table" in found:
                yield found["table"], found["row"]


def make_old(store: Store) -> None:
    """Make the old arena by the revision and plain SQL of its time, as if its last coordinator had been killed."""
    with schema.alone(store.engine) as connection:
        command.upgrade(schema.config(connection), "0001")
    with store.engine.begin() as connection:
        tables = tables_of(connection)
        connection.execute(tables["counters"].delete())
        for name, row in dumped():
            connection.execute(insert(tables[name]), [{key: value_of(tables[name], key, row[key]) for key in row}])
        until = datetime(2026, 10, 1, 12, 0, 15, tzinfo=UTC)
        connection.execute(insert(tables["leases"]), [{"name": "referee", "holder": OWNER, "until": until}])


def tables_of(connection: Connection) -> dict[str, Table]:
    """The tables as they are now, whatever the models say."""
    metadata = MetaData()
    metadata.reflect(connection)
    return metadata.tables  # type: ignore[return-value]


def value_of(table: Table, name: str, value: Any) -> Any:
    """A value of a dump as its column takes it."""
    kind = table.columns[name].type
    if value is not None and isinstance(kind, LargeBinary):
        return base64.b64decode(value)
    return datetime.fromisoformat(value) if value is not None and isinstance(kind, DateTime) else value


def rows_of(store: Store) -> Rows:
    """Everything in the database but the number of its schema."""
    with store.engine.connect() as connection:
        return {
            name: [dict(row._mapping) for row in connection.execute(select(table).order_by(*table.primary_key.columns))]
            for name, table in tables_of(connection).items()
            if name != "alembic_version"
        }


def renamed(rows: Rows) -> Rows:
    """Rows of the first schema as the newest has them: other names, what is new empty, the lease of the past gone,
    cancelled games no part of their tournament's total.
    """
    found = {
        table: [
            {RENAMED.get((table, name), name): value for name, value in row.items()} | ADDED.get(table, {})
            for row in lines
        ]
        for table, lines in rows.items()
    }
    cancelled = Counter(game["tournament_id"] for game in rows["games"] if game["state"] == "cancelled")
    assert cancelled
    for tournament in found["tournaments"]:
        tournament["planned_games"] -= cancelled[tournament["id"]]
    return found | {table: [] for table in (*NEW_TABLES, "leases")}


def check_results(store: Store) -> None:
    """Ratings follow from the games, a rebuild changes nothing, every game verifies by the rules."""
    assert store.ratings.check() == []
    before = rows_of(store)
    store.ratings.rebuild()
    assert rows_of(store) == before
    finished = [game for game in before["games"] if game["state"] == "finished"]
    assert len(finished) == 19
    for game in finished:
        record = store.games.record(game["id"])
        verify(record)
        assert record.id == game["id"]


@pytest.fixture
def old_store(own_store: Store) -> Store:
    """The old arena in a database of its own; the program is not asked yet."""
    schema.downgrade(own_store.engine, "base")
    make_old(own_store)
    return own_store


def test_the_old_arena_has_games_in_every_state(old_store: Store) -> None:
    rows = rows_of(old_store)
    states = {game["state"] for game in rows["games"]}
    assert states == {"planned", "queued", "running", "finished", "void", "cancelled"}
    assert {game["worker"] for game in rows["games"] if game["state"] in ("queued", "running")} == {OWNER}
    assert all(rows[name] for name in ("ratings", "rating_changes", "records", "voids", "leases", "schedules", "audit"))


def test_up_and_down_and_up_again(old_store: Store) -> None:
    before = rows_of(old_store)
    assert old_store.upgrade() == ("0001", schema.head())
    assert schema.differences(old_store.engine) == []
    old_store.require()
    assert rows_of(old_store) == renamed(before)
    check_results(old_store)
    schema.downgrade(old_store.engine, "0001")
    assert rows_of(old_store) == {**before, "leases": []}
    assert old_store.upgrade() == ("0001", schema.head())
    assert schema.differences(old_store.engine) == []
    assert rows_of(old_store) == renamed(before)


def test_work_goes_on_where_the_old_arena_left_it(old_store: Store) -> None:
    old_store.upgrade()
    ids = [game["id"] for game in rows_of(old_store)["games"] if game["state"] in ("queued", "running")]
    assert old_store.queue.give_back(lease_owner="somebody else") == 0
    assert old_store.queue.give_back() == len(ids) == 4
    league = old_store.games.get(ids[0]).tournament_id
    waiting = {one.game.id: one for one in old_store.queue.waiting(league, 100)}
    assert set(ids) < set(waiting)
    assert all(waiting[game_id].game.spec == old_store.games.spec(game_id) for game_id in ids)
    assert old_store.queue.hand_out(ids[:1], "new owner") == ids[:1]
    assert (old_store.games.get(ids[0]).lease_owner, old_store.games.get(ids[0]).attempt) == ("new owner", 2)
    assert old_store.leases.take("referee", "new owner", 15, old_store.leases.get("referee"))


def test_a_program_and_a_schema_that_differ_refuse_each_other(old_store: Store, tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=rf"schema 0001, the program needs {schema.head()}; run `arena db upgrade`"):
        old_store.require()
    made = Store(url_in(tmp_path / "file"))
    (tmp_path / "file").mkdir()
    make_old(made)
    made.close()
    with pytest.raises(SchemaError, match="arena db upgrade"):
        Store.in_folder(tmp_path / "file")


def test_a_backup_of_the_old_arena_is_restored(own_store: Store) -> None:
    assert load(own_store.engine, DUMP) == sum(1 for _ in dumped())
    check_results(own_store)
    assert {game["lease_owner"] for game in rows_of(own_store)["games"] if game["state"] == "running"} == {OWNER}
