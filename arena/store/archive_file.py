"""The archive as it was once kept: a file of its own in the data folder, from which its games are taken over."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from arena.store.archive import Archive
from arena.store.archived_game import ArchivedGame

_FILE = "archive.sqlite3"


def is_in(folder: Path) -> bool:
    """Whether there is such a file."""
    return (folder / _FILE).exists()


def adopt(archive: Archive, folder: Path) -> int:
    """Take its games over, with the numbers they had, and set the file aside; how many were new.

    Interrupted it begins again, and finds the games it took over before.
    """
    if not is_in(folder):
        return 0
    count = archive.add(_games(folder / _FILE))
    (folder / _FILE).rename(folder / f"{_FILE}.taken-over")
    return count


def _games(file: Path) -> Iterator[ArchivedGame]:
    with closing(sqlite3.connect(file)) as base:
        for entry, number in base.execute("SELECT entry, number FROM archive_game ORDER BY serial"):
            data = json.loads(entry)
            yield ArchivedGame(**{**data, "moves": tuple(data["moves"]), "number": number})
