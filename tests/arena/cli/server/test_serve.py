"""`arena serve` while the database changes under it."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import text

from arena.cli.server import serve
from arena.errors import SchemaError, StoreUnavailableError
from arena.store import Store


def test_pages_end_when_the_database_was_upgraded_and_only_then(
    own_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "SCHEMA_S", 0.01)
    looks, require = 0, own_store.require

    def look() -> None:
        nonlocal looks
        looks += 1
        if looks < 3:
            raise StoreUnavailableError("away")
        if looks == 5:
            with own_store.engine.begin() as connection:
                connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        require()

    monkeypatch.setattr(own_store, "require", look)
    with pytest.raises(SchemaError, match="newer than this program or belongs to another one"):
        asyncio.run(asyncio.wait_for(serve._until(asyncio.Event(), own_store), 100))
    assert looks == 5


def test_pages_end_when_they_are_told(own_store: Store) -> None:
    stop = asyncio.Event()
    stop.set()
    asyncio.run(asyncio.wait_for(serve._until(stop, own_store), 100))
