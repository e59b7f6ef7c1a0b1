"""Rebuilds: resumable after a kill, invisible until the end, yielding to one that finished first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from arena.errors import ConflictError
from arena.store import Store
from arena.store.ratings import rebuild
from referee.ratings import trueskill
from tests.arena.field import Field

QUERIES = (
    "SELECT * FROM rating_changes ORDER BY commit_number, version_id",
    "SELECT * FROM ratings ORDER BY version_id",
)


class KilledError(Exception):
    """Simulates the end of the process."""


def numbers(store: Store) -> list[list[Any]]:
    """Return all ratings and rating changes."""
    with store.reading() as session:
        return [list(map(tuple, session.execute(text(query)))) for query in QUERIES]


def left(store: Store) -> list[int]:
    """Return the progress of unfinished rebuilds."""
    with store.reading() as session:
        if not (found := list(session.scalars(text("SELECT last FROM rebuilds")))):
            assert not session.scalar(text("SELECT count(*) FROM rebuilt_changes"))
        return found


def falsify(store: Store) -> None:
    """Falsify every stored number and the pools of some changes, and delete others."""
    with store.writing() as session:
        session.execute(text("UPDATE rating_changes SET pool = 'elsewhere' WHERE commit_number IN (5, 16)"))
        session.execute(text("UPDATE rating_changes SET mu = mu + 1"))
        session.execute(text("UPDATE ratings SET mu = mu + 1"))
        session.execute(text("DELETE FROM rating_changes WHERE commit_number IN (3, 20)"))


def kill_at(games: int) -> Callable[[int, int], None]:
    """Return a progress callback that ends the rebuild after this many games."""

    def tell(done: int, _total: int) -> None:
        if done >= games:
            raise KilledError

    return tell


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Use small portions, and record every game that TrueSkill rates in a rebuild."""
    rated: list[int] = []
    plain = trueskill.update

    def counting(*arguments: Any) -> Any:
        rated.append(1)
        return plain(*arguments)

    monkeypatch.setattr(rebuild, "PORTION", 7)
    monkeypatch.setattr(trueskill, "update", counting)
    return rated


def test_killed_rebuild_resumes(store: Store, field: Field, computed: list[int]) -> None:
    field.play(40)
    right = numbers(store)
    falsify(store)
    wrong = numbers(store)
    with pytest.raises(KilledError):
        store.ratings.rebuild(kill_at(21))
    assert numbers(store) == wrong, "until the end, readers see the old ratings"
    assert left(store) == [21]
    computed.clear()
    told: list[tuple[int, int]] = []
    assert store.ratings.rebuild(lambda done, total: told.append((done, total))) == 40
    assert len(computed) == 19, "earlier changes are read, not computed again"
    assert told == [(21, 40), (28, 40), (35, 40), (40, 40)]
    assert numbers(store) == right
    assert left(store) == []


def test_resumed_rebuild_includes_new_commits(store: Store, field: Field, computed: list[int]) -> None:
    field.play(20)
    falsify(store)
    with pytest.raises(KilledError):
        store.ratings.rebuild(kill_at(14))
    field.play(10, first_sequence=21)
    store.results.undo({store.games.latest().items[0].id: "wrong"})
    assert left(store) == [], "an undo discards the unfinished rebuild"
    assert store.ratings.rebuild() == 29
    assert store.ratings.check() == []


def test_rebuild_includes_concurrent_commits(store: Store, field: Field, computed: list[int]) -> None:
    field.play(15)
    falsify(store)
    more = iter([lambda: field.play(5, first_sequence=16)])

    def tell(done: int, _total: int) -> None:
        if done == 15:
            next(more, list)()

    assert store.ratings.rebuild(tell) == 20
    assert store.ratings.check() == []


def test_overtaken_rebuild_changes_nothing(store: Store, field: Field, computed: list[int]) -> None:
    field.play(20)
    right = numbers(store)
    falsify(store)

    def tell(done: int, _total: int) -> None:
        if done == 7:
            store.ratings.rebuild()

    with pytest.raises(ConflictError, match="another rebuild"):
        store.ratings.rebuild(tell)
    assert numbers(store) == right
    assert left(store) == []


def test_undo_computes_only_later_games(store: Store, field: Field, computed: list[int]) -> None:
    records = field.play(30)
    computed.clear()
    wrong = [records[number].id for number in (24, 27)]
    assert store.results.undo(dict.fromkeys(wrong, "wrong")) == wrong
    assert len(computed) == 4
    assert left(store) == []
    assert store.ratings.check() == []
    assert store.ratings.of_game(wrong[0]) == {}


def test_killed_undo_keeps_the_result(
    store: Store, field: Field, computed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    records = field.play(30)
    before = numbers(store)

    def finish(*_: Any) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(rebuild, "_finish", finish)
        with pytest.raises(KilledError):
            store.results.undo({records[5].id: "wrong"})
    assert numbers(store) == before
    assert store.games.get(records[5].id).state == "finished"
    assert store.results.undo({records[5].id: "wrong"}) == [records[5].id]
    assert store.ratings.check() == []
