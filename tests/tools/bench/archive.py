"""The archive: how fast games are taken in and found, and the room their index takes.

    python -m tests.tools.bench.archive [--games N] [--database URL] [--plies N] [--folder DIR]

Its games are copies of random games: the first plies of a copy are those of the real game, its later positions have
keys of their own, as games of people have. So the index is as large as that of different games, in a hundredth of the
time.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sqlalchemy import text

from arena.collections.conversion import to_archived
from arena.collections.notation import write
from arena.documents.archive import ArchiveQuery, ExplorerQuery
from arena.services.archive import read_text
from arena.store import Store
from arena.store.archive.archived_game import WINNERS, ArchivedGame, entries_of
from arena.store.archive.entry import NewArchivedGame, insert_games
from arena.store.archive.positions import PositionEntries
from arena.store.archive.search import ArchiveSearch
from referee.rules import families, load
from referee.rules.core import SIDES
from tests.tools.bench.figure import Figure

TABLES = ("archive_games", "archive_names", "archive_parts", "archive_positions")
PORTION = 500
SORTS: tuple[Literal["number", "date", "length"], ...] = ("number", "date", "length")
ORDERS: tuple[Literal["falling", "rising"], ...] = ("falling", "rising")
ALIKE = 5
"""How many copies of each game are imported."""
SCAN = "count of a column by SQL"


def run(quick: bool) -> Iterator[Figure]:
    """Figures of the archive."""
    games = originals(300 if quick else 1000, 80)
    begin = time.perf_counter()
    entries = entries_of(games)
    taken = time.perf_counter() - begin
    yield Figure("archive", "games made ready for the index", len(games) / taken, "games/s")
    yield Figure("archive", "games imported from a text", imported(games), "games/s")
    count = 5_000 if quick else 50_000
    with tempfile.TemporaryDirectory() as name, closing(Store.in_folder(Path(name))) as store:
        begin = time.perf_counter()
        fill(store, count, games, entries)
        yield Figure("archive", "games with positions stored", count / (time.perf_counter() - begin), "games/s")
        yield Figure("archive", f"index of {count:,} games", size(store) / count, "bytes/game", goal="< 1500")
        scan = _scan(Path(name) / "arena.sqlite3")
        durations_ms = sorted(times(store, games, entries, 5 if quick else 20))
        p99 = durations_ms[int(0.99 * len(durations_ms))]
        yield Figure("archive", f"search in {count:,} games, median", statistics.median(durations_ms), "ms", SCAN, scan)
        yield Figure("archive", f"search in {count:,} games, p99", p99, "ms", SCAN, scan, "< 100")
        durations_ms = sorted(explorations(store, games, entries, 100 if quick else 400))
        p99 = durations_ms[int(0.99 * len(durations_ms))]
        yield Figure(
            "archive", f"explorer in {count:,} games, median", statistics.median(durations_ms), "ms", SCAN, scan
        )
        yield Figure("archive", f"explorer in {count:,} games, p99", p99, "ms", SCAN, scan, "< 50")


def imported(games: Sequence[ArchivedGame]) -> float:
    """How many games of a text, in a notation that is found out, a new archive takes in a second: the mean of all
    families. Each game is there several times, between other players, so that texts are long."""
    taken = 0.0
    for family in families():
        mine = [game for game in games if game.family == family] * ALIKE
        rules = load(family)
        written = [
            write(
                rules.formats[0], rules.settle(game.variant), game.position, game.moves, tags={"First": f"player {n}"}
            )
            for n, game in enumerate(mine, 1)
        ]
        read_text("\n".join(written[:30]), rules.settle())
        with tempfile.TemporaryDirectory() as name, closing(Store.in_folder(Path(name))) as store:
            begin = time.perf_counter()
            imported_text = read_text("\n".join(written), rules.settle())
            assert store.archive.add(
                [to_archived(read_game, "bench", imported_text.format) for read_game in imported_text.games]
            ) == len(mine)
            taken += time.perf_counter() - begin
    return len(games) * ALIKE / taken


def _scan(file: Path) -> float:
    with closing(sqlite3.connect(file)) as base:
        begin = time.perf_counter()
        base.execute("SELECT count(*) FROM archive_games WHERE plies > 50 AND winner = 1").fetchone()
        return 1000 * (time.perf_counter() - begin)


@cache
def originals(count: int, plies: int) -> list[ArchivedGame]:
    """Random games of all families, of about so many plies."""
    rng, archived = random.Random(1), []
    for number in range(count):
        rules = load(families()[number % len(families())])
        ruleset = rules.settle(rng.choice(rules.variants[:3]).name)
        kernel, config, moves = rules.kernel, ruleset.config, []
        buffer = np.empty(kernel.MAX_MOVES, np.int64)
        state = ruleset.read()
        for _ in range(rng.randrange(plies // 2, 2 * plies)):
            legal = 0 if kernel.result(state, config, 1, 0) else kernel.legal(state, config, buffer)
            if not legal:
                break
            after = np.empty_like(state)
            move = int(buffer[rng.randrange(legal)])
            kernel.play(state, config, move, after)
            moves.append(rules.notation.write_move(move))
            state = after
        position = ruleset.write(ruleset.read())
        archived.append(
            ArchivedGame("", rules.family, ruleset.variant.name, {}, position, tuple(moves), "", "", None, "")
        )
    return archived


def fill(store: Store, count: int, games: Sequence[ArchivedGame], entries: Sequence[PositionEntries]) -> None:
    """So many copies of games, in portions as an import brings them."""
    rng = np.random.default_rng(2)
    for first in range(0, count, PORTION):
        new = [_copy(number, games, entries, rng) for number in range(first, min(count, first + PORTION))]
        with store.writing() as session:
            insert_games(session, new)


def _copy(
    number: int, games: Sequence[ArchivedGame], entries: Sequence[PositionEntries], rng: np.random.Generator
) -> NewArchivedGame:
    place = int(rng.integers(len(games)))
    game, mine = games[place], entries[place]
    keys, kept, end = mine.keys.copy(), int(rng.integers(1, 16)), game.plies + 1
    keys[kept:end] = rng.integers(0, 2**64, max(0, end - kept), np.uint64)
    tags = mine.tags.copy()
    tags[: end - 1] = keys[1:end] >> np.uint64(32)
    first, second = (f"player {int(rng.zipf(1.3)) % 20_000}" for _ in range(2))
    winner = WINNERS[int(rng.integers(4))]
    date = f"{rng.integers(1990, 2027)}-{rng.integers(1, 13):02}-{rng.integers(1, 28):02}"
    ended = ("resigned", "repetition", "no-moves", "stopped")[int(rng.integers(4))]
    made = replace(
        game,
        id=f"{number:032x}",
        first=first,
        second=second,
        source=f"collection {number % 12}",
        winner=winner,
        termination=ended,
        tags={"Date": date},
    )
    return NewArchivedGame(made, PositionEntries(keys, mine.serials, tags))


def times(
    store: Store, games: Sequence[ArchivedGame], entries: Sequence[PositionEntries], repeats: int
) -> Iterator[float]:
    """Milliseconds of searches of all kinds, warm: the first page of fifty, and a later one."""
    for search in searches(games, entries, repeats):
        store.archive.search(ArchiveSearch())
        begin = time.perf_counter()
        page = store.archive.search(search)
        yield 1000 * (time.perf_counter() - begin)
        if page.next is not None:
            begin = time.perf_counter()
            store.archive.search(replace(search, query=replace(search.query, after=page.next)))
            yield 1000 * (time.perf_counter() - begin)


def explorations(
    store: Store, games: Sequence[ArchivedGame], entries: Sequence[PositionEntries], count: int
) -> Iterator[float]:
    """Milliseconds of looks into positions of games, as deep as people look, half of them with filters."""
    rng = random.Random(4)
    following: dict[int, set[int]] = {}
    for mine in entries:
        for key, tag in zip(mine.keys.tolist(), mine.tags.tolist(), strict=True):
            following.setdefault(key, set()).add(tag)
    filters: tuple[dict[str, Any], ...] = (
        {},
        {},
        {"since": "2000-01-01"},
        {"source": "collection 7"},
        {"until": "2015-12-31"},
    )
    for number in range(count):
        place = rng.randrange(len(games))
        game, keys = games[place], entries[place].keys
        key = int(keys[min(rng.randrange(12), game.plies)])
        query = ExplorerQuery(variant=game.variant, **filters[number % len(filters)])
        side = rng.choice(SIDES)
        begin = time.perf_counter()
        store.archive.explorer.explore(key, query, following[key], family=game.family, rated_in=game.family, side=side)
        yield 1000 * (time.perf_counter() - begin)


def searches(
    games: Sequence[ArchivedGame], entries: Sequence[PositionEntries], repeats: int
) -> Iterator[ArchiveSearch]:
    """Searches of all kinds in all orders, several of each."""
    rng = random.Random(3)
    for _ in range(repeats):
        place = rng.randrange(len(games))
        game, keys = games[place], entries[place].keys
        start, deep = int(keys[0]), int(keys[rng.randrange(1, min(game.plies, 12))])
        kinds = [
            ArchiveSearch(),
            ArchiveSearch(query=ArchiveQuery(player=f"player {rng.randrange(2000)}")),
            ArchiveSearch(query=ArchiveQuery(player="7")),
            ArchiveSearch(query=ArchiveQuery(first="player 1", result="first")),
            ArchiveSearch(query=ArchiveQuery(name="player 1")),
            ArchiveSearch(query=ArchiveQuery(number=str(rng.randrange(10_000)))),
            ArchiveSearch(query=ArchiveQuery(family=game.family, variant=game.variant)),
            ArchiveSearch(query=ArchiveQuery(family=game.family, result="draw", ending="repetition")),
            ArchiveSearch(query=ArchiveQuery(min_plies=40, max_plies=60, result="none")),
            ArchiveSearch(query=ArchiveQuery(since="2003-01-01", until="2004-12-31", player="player 2")),
            ArchiveSearch(query=ArchiveQuery(source="collection 7")),
            ArchiveSearch(key=start),
            ArchiveSearch(query=ArchiveQuery(result="second", min_plies=50), key=start),
            ArchiveSearch(key=deep),
            ArchiveSearch(query=ArchiveQuery(family=game.family), first_moves=game.moves[:1]),
            ArchiveSearch(
                query=ArchiveQuery(family=game.family, since="2000"), first_moves=game.moves[: rng.randrange(2, 8)]
            ),
            ArchiveSearch(
                query=ArchiveQuery(
                    family=game.family, variant=game.variant, player="player 3", since="1995-01-01", min_plies=30
                ),
                key=start,
            ),
        ]
        for kind in kinds:
            yield replace(kind, query=replace(kind.query, sort=rng.choice(SORTS), order=rng.choice(ORDERS)))


def size(store: Store) -> int:
    """The bytes of the archive's tables with their indexes; SQLite's are those of a file with nothing else in it."""
    with store.reading() as session:
        if store.engine.dialect.name == "postgresql":
            sizes = [session.scalar(text(f"SELECT pg_total_relation_size('{name}')")) or 0 for name in TABLES]
            return sum(sizes)
        pages = session.scalar(text("SELECT page_count - freelist_count FROM pragma_page_count, pragma_freelist_count"))
        return int(pages or 0) * int(session.scalar(text("PRAGMA page_size")) or 0)


def main() -> None:
    """Measure at another scale."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.bench.archive", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--originals", type=int, default=2000)
    parser.add_argument("--plies", type=int, default=80)
    parser.add_argument("--database", help="an empty PostgreSQL database (default: SQLite in --folder)")
    parser.add_argument("--folder", type=Path, default=Path("build/archive"))
    arguments = parser.parse_args()
    games = originals(arguments.originals, arguments.plies)
    entries = entries_of(games)
    if arguments.database:
        store = Store(arguments.database)
        store.upgrade()
    else:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        store = Store.in_folder(arguments.folder)
    with closing(store):
        begin = time.perf_counter()
        if not store.archive.count(ArchiveSearch()):
            fill(store, arguments.games, games, entries)
        print(f"filled in {time.perf_counter() - begin:.0f} s", flush=True)
        count = store.archive.count(ArchiveSearch())
        plies = sum(game.plies for game in games) / len(games)
        print(f"{count:,} games of {plies:.0f} plies: {size(store) / 2**20:,.0f} MB", flush=True)
        durations_ms = sorted(times(store, games, entries, 20))
        looks = sorted(explorations(store, games, entries, 1000))
        print(f"1000 looks: median {statistics.median(looks):.1f} ms, p99 {looks[990]:.1f}, longest {looks[-1]:.1f}")
        print(
            f"{len(durations_ms)} searches: median {statistics.median(durations_ms):.1f} ms, "
            f"p99 {durations_ms[int(0.99 * len(durations_ms))]:.1f}"
        )


if __name__ == "__main__":
    main()
