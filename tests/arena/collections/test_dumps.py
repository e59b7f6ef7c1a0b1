"""Dumps: their content, updates that append only new games, and ratings computed from them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard

from arena.collections import dumps as module
from arena.collections.dumps import DumpInterrupted, Dumps, read
from arena.store import Store
from arena.store.ratings import fold
from referee.game.record import read_record
from tests.arena.field import Field, record_of


def months(field: Field, count: int, first_sequence: int = 1) -> None:
    """Store games that end in three months in turn."""
    for number, game in enumerate(field.plan(count, first_sequence=first_sequence)):
        time = f"2026-{number % 3 + 1:02d}-{number % 28 + 1:02d}T00:00:00+00:00"
        field.store.results.commit(replace(record_of(game), finished=time, logs={"first": "secret"}))


def content(dumps: Dumps) -> dict[str, tuple[int, str]]:
    """Return the files with their times and digests."""
    found = [path for path in dumps.folder.iterdir() if path.name != ".lock"]
    return {path.name: (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest()) for path in found}


def games(dumps: Dumps) -> list[dict[str, Any]]:
    """Return the games of all files in commit order."""
    found = [game for dump in dumps.index().files.values() for game in read(dumps.folder / dump.file)]
    return sorted(found, key=lambda game: game["commit_number"])


def test_files_by_month_with_headings_and_checksums(field: Field, tmp_path: Path) -> None:
    months(field, 20)
    dumps = Dumps(tmp_path / "dumps", licence="CC-BY-4.0", source="https://arena.example")
    assert dumps.update(field.store) == 20
    assert dumps.check() == []
    index = dumps.index()
    assert list(index.files) == ["2026-01", "2026-02", "2026-03"]
    assert (index.through, sum(dump.games for dump in index.files.values())) == (20, 20)
    for month, dump in index.files.items():
        packed = (dumps.folder / dump.file).read_bytes()
        assert (dump.bytes, dump.sha256) == (len(packed), hashlib.sha256(packed).hexdigest())
        line = (dumps.folder / f"{dump.file}.sha256").read_text()
        assert line == f"{dump.sha256}  {dump.file}\n"
        lines = zstandard.ZstdDecompressor().decompressobj().decompress(packed).splitlines()
        assert json.loads(lines[0]) == {
            "form": "arena-games-1",
            "month": month,
            "licence": "CC-BY-4.0",
            "source": "https://arena.example",
        }
        records = [json.loads(text) for text in lines[1:]]
        assert len(records) == dump.games
        assert all(game["finished"].startswith(month) for game in records)
        assert all(read_record(text).logs == {} for text in lines[1:])
    assert [game["commit_number"] for game in games(dumps)] == list(range(1, 21))


def test_dumps_update_appends_only_new_games(field: Field, tmp_path: Path) -> None:
    months(field, 6)
    dumps = Dumps(tmp_path / "dumps")
    dumps.update(field.store)
    before = content(dumps)
    assert dumps.update(field.store) == 0
    assert content(dumps) == before
    months(field, 2, first_sequence=7)
    old = (dumps.folder / "2026-01.ndjson.zst").read_bytes()
    assert dumps.update(field.store) == 2
    assert (dumps.folder / "2026-01.ndjson.zst").read_bytes().startswith(old)
    after = content(dumps)
    assert after["2026-03.ndjson.zst"] == before["2026-03.ndjson.zst"]
    assert [game["commit_number"] for game in games(dumps)] == list(range(1, 9))
    assert dumps.check() == []


def test_dumps_interrupted_anywhere_are_complete_after_the_next_update(
    field: Field, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    months(field, 12)
    dumps = Dumps(tmp_path / "dumps")
    looks = iter([False] * 5 + [True])
    with pytest.raises(DumpInterrupted):
        dumps.update(field.store, must_stop=lambda: next(looks))
    assert content(dumps) == {}
    monkeypatch.setattr(module, "BATCH_SIZE", 5)
    looks = iter([False] * 7 + [True])
    with pytest.raises(DumpInterrupted):
        dumps.update(field.store, must_stop=lambda: next(looks))
    assert dumps.index().through == 5, "what was whole stays"
    whole = module.os.replace

    def die(source: Path, target: Path) -> None:
        if Path(target).name == "index.json":
            raise OSError(28, "No space left on device")
        whole(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(module.os, "replace", die)
        with pytest.raises(OSError, match="No space"):
            dumps.update(field.store)
    assert dumps.index().through == 5
    assert dumps.update(field.store) == 7
    assert [game["commit_number"] for game in games(dumps)] == list(range(1, 13))
    assert dumps.check() == []
    assert not list(dumps.folder.glob("*.new"))


@pytest.mark.parametrize("harm", ["gone", "short", "changed", "index"])
def test_dumps_update_rewrites_damaged_files(sqlite_store: Store, tmp_path: Path, harm: str) -> None:
    field = Field(sqlite_store)
    months(field, 6)
    dumps = Dumps(tmp_path / "dumps")
    dumps.update(field.store)
    file = dumps.folder / "2026-01.ndjson.zst"
    if harm == "gone":
        file.unlink()
    elif harm == "short":
        file.write_bytes(file.read_bytes()[:-1])
    elif harm == "changed":
        file.write_bytes(file.read_bytes()[:-1] + b"x")
    else:
        (dumps.folder / "index.json").write_text("{}")
    assert len(dumps.check()) == 1
    months(field, 3, first_sequence=7)
    dumps.update(field.store)
    assert [game["commit_number"] for game in games(dumps)] == list(range(1, 10))
    assert dumps.check() == []


def test_only_files_of_the_archive_have_a_path(tmp_path: Path) -> None:
    (tmp_path / "2026-01.ndjson.zst").write_bytes(b"")
    (tmp_path / "index.json").write_text("{}")
    dumps = Dumps(tmp_path)
    assert dumps.path("2026-01.ndjson.zst") is not None
    for name in ("index.json", ".lock", "../x", "2026-02.ndjson.zst", "2026-01.ndjson.zst.new", ""):
        assert dumps.path(name) is None


# -- every number of a leaderboard from the dump alone -----------------------------------------------------------------


class Recount:
    """Ratings computed from the lines of a dump, by names only."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.earlier: dict[int, tuple[str, ...]] = {}
        self.lines: dict[tuple[str, int], fold.FoldedRating] = {}
        self.score: dict[tuple[str, str], list[int]] = {}

    def number(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers) + 1)

    def line(self, pool: str, version_id: int) -> fold.FoldedRating | None:
        return self.lines.get((pool, version_id))

    def follows(self, version_id: int) -> int | None:
        ancestors = self.earlier.get(version_id, ())
        if not ancestors:
            return None
        one = self.number(ancestors[0])
        self.earlier.setdefault(one, ancestors[1:])
        return one

    def put(self, pool: str, version_id: int, line: fold.FoldedRating) -> None:
        self.lines[pool, version_id] = line

    def add(self, game: dict[str, Any]) -> None:
        ids = {side: self.number(game[side]) for side in ("first", "second")}
        for side, version in ids.items():
            self.earlier.setdefault(version, tuple(game["follows"][side]))
        played = fold.FoldedGame(
            game["id"],
            game["commit_number"],
            game["family"],
            game["pool"],
            ids["first"],
            ids["second"],
            game["winner"],
            game["kind"],
            game["is_rated"],
            game["meeting"],
            game["anchor"],
        )
        if not played.counts:
            return
        fold.fold(self, played)
        for side in ("first", "second"):
            tally = self.score.setdefault((game["pool"], game[side]), [0, 0, 0])
            tally[1 if game["winner"] == "draw" else 0 if game["winner"] == side else 2] += 1


def test_every_number_of_a_leaderboard_follows_from_the_dump(field: Field, tmp_path: Path) -> None:
    store = field.store
    field.play(40)
    for _ in range(2):  # new versions start from those before them; one never plays
        field.versions[0] = field.version("ada")
    again = field.add_tournament()
    assert again.id is not None
    field.play(30, again.id)
    unrated = field.add_tournament(is_rated=False)
    assert unrated.id is not None
    field.play(10, unrated.id)
    dumps = Dumps(tmp_path / "dumps")
    dumps.update(store)
    recount = Recount()
    for game in games(dumps):
        recount.add(game)
    board = store.ratings.leaderboard("loa", with_retired=True, limit=500).items
    assert len(board) == 5
    for line in board:
        mine = recount.lines["loa", recount.numbers[line.name]]
        assert (mine.rating.mu, mine.rating.sigma, mine.rating.conservative) == (line.mu, line.sigma, line.conservative)
        assert mine.rating.is_provisional == line.is_provisional
        assert recount.score["loa", line.name] == [line.wins, line.draws, line.losses]
        assert (sum(recount.score["loa", line.name]), mine.forfeits) == (line.games, line.forfeits)
        assert mine.opposition / line.games == line.opponents
    order = sorted(recount.lines.items(), key=lambda item: -item[1].rating.conservative)
    assert [recount.numbers[line.name] for line in board] == [number for (_, number), _ in order]
