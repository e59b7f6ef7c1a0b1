"""The archive: permanent serials, searches checked against brute force, the position index."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, Literal

import numpy as np
import pytest
from sqlalchemy import func, select
from sqlmodel import col

from arena.collections.following import follow, prepared, rebuild
from arena.documents.archive import MAX_COUNTED, ArchiveItem, ArchiveQuery
from arena.errors import BadValueError, NotFoundError
from arena.store import Store
from arena.store.archive import archive, positions
from arena.store.archive import search as archive_search
from arena.store.archive.archived_game import MAX_OPENING_PLIES, ArchivedGame, day_of, entries_of
from arena.store.archive.positions import PositionEntries
from arena.store.archive.search import ArchiveSearch
from arena.store.base.tables.archive import ArchivePart, ArchivePosition
from referee.game.record import GameRecord
from referee.rules import families, load
from referee.rules.symmetry import keys_of
from tests.arena.field import Field, record_of

NAMES = ("Ada Lovelace", "ada", "Bob", "Cléo", "100%")


def random_game(number: int, rng: random.Random) -> ArchivedGame:
    """Create a game of a random family from a few random plies."""
    rules = load(rng.choice(families()[:2]))
    ruleset = rules.settle(rng.choice(rules.variants[:2]).name)
    kernel, config, state, moves = rules.kernel, ruleset.config, ruleset.read(), []
    buffer = np.empty(kernel.MAX_MOVES, np.int64)
    for _ in range(rng.randrange(2, 9)):
        legal = int(kernel.legal(state, config, buffer))
        move = int(buffer[rng.randrange(min(legal, 2))])
        after = np.empty_like(state)
        kernel.play(state, config, move, after)
        moves.append(rules.notation.write_move(move))
        state = after
    return ArchivedGame(
        id=f"{number:016x}",
        family=rules.family,
        variant=ruleset.variant.name,
        options={},
        position=ruleset.write(ruleset.read()),
        moves=tuple(moves),
        first=rng.choice(NAMES),
        second=rng.choice(NAMES),
        winner=rng.choice(["first", "second", "draw", None]),
        termination=rng.choice(["resigned", "draw-agreed"]),
        number=str(number % 7) if number % 3 else "",
        source=rng.choice(["one.txt", "two.txt"]),
        tags={"Date": rng.choice(["2003-07-31", "2003", "1999.12", "?", ""])},
    )


@pytest.fixture(scope="module")
def games() -> list[ArchivedGame]:
    rng = random.Random(5)
    return [random_game(number, rng) for number in range(60)]


Test = Callable[[ArchivedGame], bool]


def brute_force(games: list[ArchivedGame], rng: random.Random) -> Iterator[tuple[ArchiveSearch, Test]]:
    """Return searches, each with a predicate on games."""
    chosen = rng.choice(games)
    keys = keys_of(chosen.ruleset(), chosen.states()).tolist()
    key = rng.choice(keys)
    moves = chosen.moves[: rng.randrange(1, len(chosen.moves) + 1)]
    yield ArchiveSearch(query=ArchiveQuery(id=chosen.id)), lambda game: game.id == chosen.id
    yield ArchiveSearch(query=ArchiveQuery(family=chosen.family)), lambda game: game.family == chosen.family
    yield ArchiveSearch(query=ArchiveQuery(variant=chosen.variant)), lambda game: game.variant == chosen.variant
    yield (
        ArchiveSearch(query=ArchiveQuery(player="ADA")),
        lambda game: "ada" in (game.first + "|" + game.second).lower(),
    )
    yield ArchiveSearch(query=ArchiveQuery(player="%")), lambda game: "%" in game.first + game.second
    yield ArchiveSearch(query=ArchiveQuery(name="ada")), lambda game: "ada" in (game.first, game.second)
    yield ArchiveSearch(query=ArchiveQuery(first="b")), lambda game: "b" in game.first.lower()
    yield ArchiveSearch(query=ArchiveQuery(second="cléo")), lambda game: game.second == "Cléo"
    yield ArchiveSearch(query=ArchiveQuery(result=chosen.winner or "none")), lambda game: game.winner == chosen.winner
    yield ArchiveSearch(query=ArchiveQuery(ending="resigned")), lambda game: game.termination == "resigned"
    yield ArchiveSearch(query=ArchiveQuery(source=chosen.source)), lambda game: game.source == chosen.source
    yield ArchiveSearch(query=ArchiveQuery(number="3")), lambda game: game.number == "3" or int(game.id, 16) == 2
    yield ArchiveSearch(query=ArchiveQuery(min_plies=4, max_plies=6)), lambda game: 4 <= game.plies <= 6
    yield (
        ArchiveSearch(query=ArchiveQuery(since="2003", until="2003-07-31")),
        lambda game: game.day in (20030000, 20030731),
    )
    yield ArchiveSearch(first_moves=moves), lambda game: game.moves[: len(moves)] == moves
    yield ArchiveSearch(key=key), lambda game: key in keys_of(game.ruleset(), game.states()).tolist()


@pytest.mark.parametrize("limit", [MAX_COUNTED, 3])
def test_search_matches_brute_force(
    store: Store, games: list[ArchivedGame], limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_COUNTED", limit)
    monkeypatch.setattr(archive_search, "FIRST_SCAN", limit)
    rng, count = random.Random(7), 0
    for start in range(0, len(games), 13):
        store.archive.add(games[start : start + 13])
    for _ in range(4):
        searches = list(brute_force(games, rng))
        for (first, is_first), (second, is_second) in zip(searches, rng.sample(searches, len(searches)), strict=True):
            filters = filters_of(second) | filters_of(first)
            both = search_of(filters)
            wanted = [game.id for game in games if is_first(game) and (is_second(game) or is_shadowed(first, second))]
            assert store.archive.count(both) == len(wanted), both
            page = store.archive.search(search_of(filters, order="rising", limit=100))
            assert [line.id for line in page.items] == wanted, both
            assert (page.total, page.total_exact) == (min(len(wanted), limit), len(wanted) <= limit)
            sort = rng.choice(("number", "date", "length"))
            assert paged(store, search_of(filters, sort=sort, order="rising", limit=5), games, wanted)
            count += len(wanted)
    assert count > 50


def paged(store: Store, search: ArchiveSearch, games: list[ArchivedGame], wanted: list[str]) -> bool:
    """Return whether pages of a few games give the wanted games in order."""
    found, days = everything(store, search), {game.id: game.day for game in games}
    keys = [{"number": 0, "date": days[line.id], "length": line.plies}[search.query.sort] for line in found]
    in_order = sorted(zip(keys, (line.serial for line in found), strict=True))
    return in_order == list(zip(keys, (line.serial for line in found), strict=True)) and sorted(
        line.id for line in found
    ) == sorted(wanted)


def everything(store: Store, search: ArchiveSearch) -> list[ArchiveItem]:
    """Return the matching games, page by page."""
    page = store.archive.search(search)
    found = page.items
    while page.next is not None:
        page = store.archive.search(replace(search, query=replace(search.query, after=page.next)))
        found += page.items
    return found


def filters_of(search: ArchiveSearch) -> dict[str, Any]:
    """Return the filters of a search with their values."""
    names = [field.name for field in fields(ArchiveQuery) if field.name not in ("limit", "sort", "order")]
    filters = {name: getattr(search.query, name) for name in names}
    filters |= {"key": search.key, "first_moves": search.first_moves}
    return {name: value for name, value in filters.items() if value}


def search_of(filters: dict[str, Any], **page: Any) -> ArchiveSearch:
    """Return the search with these filters."""
    parsed = {name: value for name, value in filters.items() if name in ("key", "first_moves")}
    return ArchiveSearch(
        query=ArchiveQuery(**{name: value for name, value in filters.items() if name not in parsed}, **page), **parsed
    )


def is_shadowed(one: ArchiveSearch, two: ArchiveSearch) -> bool:
    """Return whether the second search repeats a condition of the first and so adds nothing."""
    return bool(filters_of(one).keys() & filters_of(two).keys())


def test_search_finds_symmetric_positions(store: Store) -> None:
    rules = load("loa").settle()
    game = ArchivedGame("1", "loa", "standard", {}, rules.write(rules.read()), ("b1b3",), "a", "b", None, "stopped")
    store.archive.add([game])
    for move in ("b1b3", "g1g3", "b8b6", "g8g6"):
        (_, key) = keys_of(rules, replace(game, moves=(move,)).states()).tolist()
        assert store.archive.count(ArchiveSearch(key=key)) == 1, move
    other = keys_of(rules, replace(game, moves=("c1c3",)).states()).tolist()[1]
    assert store.archive.count(ArchiveSearch(key=other)) == 0


def test_serials_are_permanent(store: Store, games: list[ArchivedGame]) -> None:
    assert store.archive.add(games[:5]) == 5
    assert store.archive.add([*games[3:7], games[6]]) == 2
    lines = store.archive.search(ArchiveSearch(query=ArchiveQuery(order="rising"))).items
    assert [(line.serial, line.id) for line in lines] == [(n + 1, games[n].id) for n in range(7)]
    assert [line.number for line in lines[:3]] == ["1", "1", "2"], "the number in the collection comes first"
    assert store.archive.get(4) == replace(games[3], serial=4, number="4")
    assert store.archive.serial_of(games[6].id) == 7
    assert store.archive.serial_of("none") is None
    for serial in (0, 8):
        with pytest.raises(NotFoundError):
            store.archive.line(serial)
        with pytest.raises(NotFoundError):
            store.archive.get(serial)


@pytest.mark.parametrize("order", ["rising", "falling"])
@pytest.mark.parametrize(("sort", "key"), [("number", "serial"), ("date", "date"), ("length", "plies")])
def test_pages_are_consistent_in_every_order(
    store: Store,
    games: list[ArchivedGame],
    sort: Literal["number", "date", "length"],
    key: str,
    order: Literal["rising", "falling"],
) -> None:
    store.archive.add(games[:40])
    search = ArchiveSearch(query=ArchiveQuery(family="abalone", sort=sort, order=order, limit=3))
    lines = everything(store, search)
    total = store.archive.search(search).total
    assert len(lines) == total == sum(game.family == "abalone" for game in games[:40]) > 6
    wanted = sorted(lines, key=lambda line: (getattr(line, key), line.serial), reverse=order == "falling")
    assert [line.serial for line in lines] == [line.serial for line in wanted]
    assert store.archive.search(replace(search, query=replace(search.query, limit=50)), offset=4).items == lines[4:]


def test_search_finds_openings_longer_than_the_index(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = load("loa").settle()
    moves = ("b1b3", "a2c2", "b3b1", "c2a2") * 4
    start = rules.write(rules.read())
    for number, played in enumerate([moves, (*moves[: MAX_OPENING_PLIES + 1], "c1c3"), moves[:MAX_OPENING_PLIES]]):
        store.archive.add([ArchivedGame(str(number), "loa", "standard", {}, start, played, "a", "b", None, "stopped")])
    counts = [
        store.archive.count(ArchiveSearch(first_moves=moves[:plies]))
        for plies in (MAX_OPENING_PLIES, MAX_OPENING_PLIES + 1, MAX_OPENING_PLIES + 2)
    ]
    assert counts == [3, 2, 1]
    monkeypatch.setattr(archive_search, "MAX_COMPARED", 2)
    with pytest.raises(BadValueError, match=r"more than 2 games begin with .* add more filters"):
        store.archive.search(ArchiveSearch(first_moves=moves))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        *[("2003-07-31", 20030731), ("2003.07.31", 20030731), ("2003-07", 20030700), ("2003", 20030000)],
        *[("2003.??.??", 20030000), ("1/2/2003", 0), ("", 0), ("2003-13-01", 20030000), ("2003-02-40", 20030200)],
    ],
)
def test_days_with_unknown_parts_are_found(text: str, day: int) -> None:
    assert day_of(text) == day


# -- the index of positions --------------------------------------------------------------------------------------------


def some_entries(rng: np.random.Generator, first: int, last: int, each: int) -> PositionEntries:
    serials = np.repeat(np.arange(first, last + 1), each)
    keys = rng.choice(POPULAR, len(serials))
    rare = rng.random(len(serials)) < 0.7
    keys[rare] = rng.integers(0, 2**64, int(rare.sum()), np.uint64)
    return PositionEntries(keys, serials, rng.integers(0, 2**32, len(serials), np.uint32))


POPULAR = np.array([0, 1, 2**63, 2**64 - 1, 77], np.uint64)


def same(one: PositionEntries, two: PositionEntries) -> bool:
    return sorted(zip(one.serials.tolist(), one.tags.tolist(), strict=True)) == sorted(
        zip(two.serials.tolist(), two.tags.tolist(), strict=True)
    )


def test_parts_are_merged_without_loss(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions, "BUCKET_ENTRIES", 16)
    monkeypatch.setattr(positions, "MAX_PART_GAMES", 40)
    rng, added, first = np.random.default_rng(4), [], 1
    for span in (1, 1, 1, 7, 2, 20, 1, 9, 30, 3):
        entries = some_entries(rng, first, first + span - 1, 12)
        with store.writing() as session:
            positions.add(session, first, first + span - 1, entries)
        added.append(entries)
        first += span
        whole = positions.joined(added)
        with store.reading() as session:
            for key in (*POPULAR.tolist(), int(whole.keys[-1]), 12345):
                wanted = np.flatnonzero(whole.keys == np.uint64(key))
                expected = PositionEntries(whole.keys[wanted], whole.serials[wanted], whole.tags[wanted])
                assert same(positions.look_up(session, key), expected), key
    with store.reading() as session:
        parts = session.execute(select(col(ArchivePart.first), col(ArchivePart.last)).order_by(col(ArchivePart.first)))
        assert [tuple(row) for row in parts] == [(1, 32), (33, 72), (73, 75)]
        entries = session.scalar(select(func.sum(col(ArchivePart.entries))))
        assert entries == len(positions.joined(added).keys)
        orphans = select(col(ArchivePosition.part_id)).where(
            col(ArchivePosition.part_id).not_in(select(col(ArchivePart.id)))
        )
        assert session.scalars(orphans).all() == []


def test_part_added_later_merges_only_earlier_parts(store: Store) -> None:
    rng, added = np.random.default_rng(4), []
    for first, last in ((1, 2), (50, 60), (3, 4), (5, 5)):
        entries = some_entries(rng, first, last, 5)
        with store.writing() as session:
            positions.add(session, first, last, entries)
        added.append(entries)
    with store.reading() as session:
        parts = session.execute(select(col(ArchivePart.first), col(ArchivePart.last)).order_by(col(ArchivePart.first)))
        assert [tuple(row) for row in parts] == [(1, 4), (5, 5), (50, 60)]
        looked_up = positions.joined(
            [positions.look_up(session, key) for key in np.unique(positions.joined(added).keys).tolist()]
        )
        assert same(looked_up, positions.joined(added))


# -- games played here -------------------------------------------------------------------------------------------------


def test_follow_adds_played_games_once_in_commit_order(store: Store, field: Field, games: list[ArchivedGame]) -> None:
    records = field.play(5)
    store.archive.add(games[:2])
    assert follow(store) == 5
    assert follow(store) == 0
    lines = store.archive.search(ArchiveSearch(query=ArchiveQuery(order="rising"))).items
    assert [line.id for line in lines] == [*(game.id for game in games[:2]), *(record.id for record in records)]
    assert lines[2].is_played_here
    assert not lines[0].is_played_here
    assert lines[2].date == "2026-01-01"
    start = load("loa").settle()
    (key, *_) = keys_of(start, start.read()[np.newaxis]).tolist()
    own = ArchiveSearch(query=ArchiveQuery(source="arena"), key=key)
    assert store.archive.count(own) == 5
    assert [game.id for game in store.archive.find(own)] == [record.id for record in records]
    more = field.play(1, first_sequence=6)
    after, fresh = store.archive.to_follow(10)
    new = prepared([data for _, data in fresh])
    assert store.archive.follow(after, fresh[-1][0], new)
    assert not store.archive.follow(after, fresh[-1][0], new), "another process has done so"
    assert [line.id for line in store.archive.search(ArchiveSearch(query=ArchiveQuery(number="8"))).items] == [
        more[0].id
    ]


def test_search_omits_undone_result(store: Store, field: Field) -> None:
    (record,) = field.play(1)
    follow(store)
    assert store.archive.count(ArchiveSearch(query=ArchiveQuery(player=record.first))) == 1
    store.results.undo({record.id: "wrong"})
    again = record_of_again(field, record.id)
    assert store.results.commit(again) is not None
    assert follow(store) == 1
    (line,) = store.archive.search(ArchiveSearch()).items
    assert (line.serial, line.id, line.winner) == (2, record.id, again.winner)
    with pytest.raises(NotFoundError):
        store.archive.get(1)


def record_of_again(field: Field, game_id: str) -> GameRecord:
    """Return the same game with another winner."""
    (planned,) = [game for game in field.games(1, seed=field.tournament_id) if game.id == game_id]
    former = record_of(planned)
    return record_of(planned, winner="first" if former.winner != "first" else "second")


def test_rebuilt_index_finds_the_same(store: Store, field: Field, games: list[ArchivedGame]) -> None:
    store.archive.add(games[:30])
    field.play(3)
    follow(store)
    keys = [int(key) for entries in entries_of(games[:30]) for key in entries.keys[:3]]
    before = [store.archive.count(ArchiveSearch(key=key)) for key in keys]
    seen: list[int] = []
    assert rebuild(store, seen.append) == 33
    assert seen[-1] == 33
    assert [store.archive.count(ArchiveSearch(key=key)) for key in keys] == before
    assert max(before) > 5


def test_unreadable_game_is_found_by_its_other_properties(store: Store, field: Field) -> None:
    (planned,) = field.plan(1)
    record = replace(record_of(planned), moves=("z9z9", "a2c2"))
    assert store.results.commit(record) is not None
    assert follow(store) == 1
    assert store.archive.count(ArchiveSearch(query=ArchiveQuery(family="loa", max_plies=2))) == 1
