"""Imports: their games and their progress are stored together, once; bounded in number, deleted in time."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from arena.clock import now
from arena.documents.archive import RejectedGame
from arena.errors import NotFoundError, QuotaError
from arena.store import Store
from arena.store.archive import entry
from arena.store.archive.archived_game import ArchivedGame
from arena.store.archive.entry import indexed
from arena.store.archive.search import ArchiveSearch
from arena.store.base.tables.archive import StoredImport
from arena.store.operations.daily_tasks import IMPORTS_RETENTION
from tests.arena.store.archive.test_archive import random_game

TEXT = "1\n2\n3\n4\n"


def start(store: Store, text: str = TEXT, user: int | None = None) -> int:
    """Store an import."""
    row = StoredImport(source="club", family="loa", variant="standard", lines=4, created_by=user)
    return store.imports.add(row, text)


def games(*numbers: int) -> list[ArchivedGame]:
    rng = random.Random(0)
    return [random_game(number, rng) for number in numbers]


def advance(store: Store, seen: StoredImport, found: Sequence[ArchivedGame], end: int) -> None:
    store.imports.advance(seen, indexed(found), [RejectedGame(end, 1, "", "wrong")], "loa", end)


def test_portions_are_stored_with_their_progress_and_once(store: Store) -> None:
    first_game, second_game, third_game = games(1, 2, 3)
    store.archive.add([first_game])
    number = start(store)
    (first, text) = store.imports.next_waiting() or pytest.fail("no import waits")
    assert (first.id, text) == (number, TEXT)
    advance(store, first, [first_game, second_game, second_game], 2)
    row = store.imports.get(number)
    assert (row.state, row.read, row.games, row.new, row.known) == ("waiting", 2, 3, 1, 2)
    advance(store, first, [third_game], 4)  # by a process that has slept meanwhile
    assert store.imports.get(number) == row
    (second, _) = store.imports.next_waiting() or pytest.fail("no import waits")
    assert (second.read, second.notation) == (2, "loa")
    advance(store, second, [third_game], 4)
    row = store.imports.get(number)
    assert (row.state, row.new, row.format) == ("done", 2, "loa")
    assert [game.line for game in row.bad] == [2, 4]
    assert store.imports.next_waiting() is None
    assert store.archive.count(ArchiveSearch()) == 3
    advance(store, second, games(4), 4)
    store.imports.fail(number, "too late")
    assert (store.imports.get(number), store.archive.count(ArchiveSearch())) == (row, 3)


def test_oldest_import_is_read_first_and_a_failed_one_no_more(sqlite_store: Store) -> None:
    first, second = start(sqlite_store), start(sqlite_store, "other")
    sqlite_store.imports.fail(first, "too long")
    assert (sqlite_store.imports.get(first).state, sqlite_store.imports.get(first).problem) == ("failed", "too long")
    (waiting, text) = sqlite_store.imports.next_waiting() or pytest.fail("no import waits")
    assert (waiting.id, text) == (second, "other")
    assert [row.id for row in sqlite_store.imports.latest(1)] == [second]
    with pytest.raises(NotFoundError, match="import"):
        sqlite_store.imports.get(99)


def test_listed_rejected_games_are_bounded_and_all_are_counted(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "MAX_REJECTED", 3)
    number = start(sqlite_store)
    for end in (1, 4):
        (seen, _) = sqlite_store.imports.next_waiting() or pytest.fail("no import waits")
        sqlite_store.imports.advance(seen, [], [RejectedGame(end, 0, "", "wrong")] * 2, "loa", end)
    row = sqlite_store.imports.get(number)
    assert (row.rejected, [game.line for game in row.bad]) == (4, [1, 1, 4])


def test_imports_that_wait_are_bounded_by_user_and_in_all(sqlite_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, bob = (sqlite_store.users.add(name, role="organiser").id for name in ("ann", "bob"))
    monkeypatch.setattr(entry, "MAX_WAITING_PER_USER", 2)
    monkeypatch.setattr(entry, "MAX_WAITING", 3)
    numbers = [start(sqlite_store, user=ann) for _ in range(2)]
    with pytest.raises(QuotaError, match="2 of your imports"):
        start(sqlite_store, user=ann)
    start(sqlite_store, user=bob)
    with pytest.raises(QuotaError, match="3 imports"):
        start(sqlite_store, user=bob)
    sqlite_store.imports.fail(numbers[0], "")
    start(sqlite_store, user=ann)


def test_old_imports_are_deleted_and_their_games_stay(sqlite_store: Store) -> None:
    number = start(sqlite_store)
    (seen, _) = sqlite_store.imports.next_waiting() or pytest.fail("no import waits")
    advance(sqlite_store, seen, games(1), 4)
    sqlite_store.daily_tasks.forget(now())
    assert sqlite_store.imports.get(number).state == "done"
    sqlite_store.daily_tasks.forget(now() + IMPORTS_RETENTION)
    with pytest.raises(NotFoundError):
        sqlite_store.imports.get(number)
    assert sqlite_store.archive.count(ArchiveSearch()) == 1
