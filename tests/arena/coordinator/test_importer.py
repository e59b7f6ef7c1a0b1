"""Imports in the background: portion by portion, within bounds, and continued after an interruption."""

from __future__ import annotations

import threading

import pytest

from arena.collections import uploaded_text
from arena.collections.collection import read_collection
from arena.coordinator.archivist import ArchiveImporter
from arena.documents.archive import ArchiveQuery
from arena.offload import Bounds
from arena.store import Store
from arena.store.archive.search import ArchiveSearch
from arena.store.base.tables.archive import StoredImport
from referee.rules import load

GAMES = 250
TEXT = "\n".join(f'[Black "p{number}"]\n1. b1b3 a4c4\n' for number in range(GAMES))


def start(store: Store, text: str) -> int:
    """Store an import of games of Lines of Action."""
    row = StoredImport(source="club", family="loa", variant="standard", lines=len(text.splitlines()))
    return store.imports.add(row, text)


class Interrupted:
    """Stands for the order to stop, which arrives after some portions."""

    def __init__(self, portions: int) -> None:
        self.left = portions

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


def test_an_interrupted_import_continues_where_it_ended(sqlite_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploaded_text, "PORTION_S", 0.0)
    text = f"{TEXT}\n1. b1b3 b1b3\n"
    number = start(sqlite_store, text)
    assert ArchiveImporter(sqlite_store).work(Interrupted(2))  # type: ignore[arg-type]
    row = sqlite_store.imports.get(number)
    assert (row.state, row.new, row.rejected) == ("waiting", 200, 0)
    assert 0 < row.read < row.lines
    assert ArchiveImporter(sqlite_store).work(threading.Event())
    row = sqlite_store.imports.get(number)
    assert (row.state, row.games, row.new, row.format) == ("done", GAMES, GAMES, "loa")
    assert sqlite_store.archive.count(ArchiveSearch(query=ArchiveQuery(source="club"))) == GAMES
    whole = read_collection(text, load("loa").formats[0], load("loa").settle())
    assert [(game.line, game.move) for game in row.bad] == [(problem.line, problem.ply) for problem in whole.problems]
    assert row.bad[0].line == row.lines
    assert not ArchiveImporter(sqlite_store).work(threading.Event())


def test_a_portion_beyond_its_bounds_fails_the_import_and_not_the_next(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploaded_text, "BOUNDS", Bounds(1, 2**30))
    monkeypatch.setattr(uploaded_text, "PORTION_S", 60.0)
    long, short = start(sqlite_store, "1. a4c4 b1b3 2. a5c5\n\n" * 60_000), start(sqlite_store, "1. b1b3 a4c4")
    importer = ArchiveImporter(sqlite_store)
    assert importer._advance()
    row = sqlite_store.imports.get(long)
    assert (row.state, row.new) == ("failed", 0)
    assert row.problem.startswith("reading the text after line 0 needs more than 60 s or 1024 MiB; import")
    monkeypatch.undo()
    assert importer.work(threading.Event())
    assert sqlite_store.imports.get(short).state == "done"


def test_a_text_without_games_fails(sqlite_store: Store) -> None:
    number = start(sqlite_store, "\n\n")
    ArchiveImporter(sqlite_store).work(threading.Event())
    found = sqlite_store.imports.get(number)
    assert (found.state, found.problem) == ("failed", "the text contains no game of loa")
