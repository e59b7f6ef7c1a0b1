"""Damage to a SQLite database as by a bad disk: overwrite a page."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def damage(file: Path, table: str = "rating_changes") -> None:
    """Overwrite the first page of a table after moving the write-ahead log into the file."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        query = "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?"
        page = connection.execute(query, (table,)).fetchone()[0]
    with open(file, "r+b") as target:
        target.seek((page - 1) * size)
        target.write(b"\xa5" * size)
