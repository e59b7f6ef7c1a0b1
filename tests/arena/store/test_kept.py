"""A database made by release 1.0.0 is upgraded and keeps its results: seven tournaments, a schedule, three bots."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.cli.terminal.exit import Exit
from arena.cli.terminal.run import run
from arena.store import Store, url_in
from arena.store.base import schema
from arena.tournaments.standing import standing
from arena.tournaments.stored_tournament import StoredTournament

KEPT = Path(__file__).parent / "kept"
EXPECTED: dict[str, Any] = json.loads((KEPT / "arena-1.0.0.json").read_text())
"""What 1.0.0 itself showed of that database."""


def lay_database(folder: Path) -> None:
    """Write the database of 1.0.0 into a data folder."""
    database = Path(url_in(folder).removeprefix("sqlite:///"))
    database.write_bytes(gzip.decompress((KEPT / "arena-1.0.0.sqlite3.gz").read_bytes()))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """The database of 1.0.0, upgraded."""
    lay_database(tmp_path)
    upgraded = Store(url_in(tmp_path))
    assert upgraded.upgrade() == ("1001", schema.head())
    yield upgraded
    upgraded.close()


def test_upgrade_gives_the_schema_of_this_program(store: Store) -> None:
    store.require()
    assert schema.differences(store.engine) == []


@pytest.mark.parametrize("number", [int(number) for number in EXPECTED["standings"]])
def test_standings_are_those_of_1_0(store: Store, number: int) -> None:
    """With byes the tie-breaks are those of the rules of FIDE since then, so 1.0.0 showed others."""
    lines = [
        [
            line.rank,
            line.name,
            line.points,
            line.games,
            round(line.sonneborn_berger, 4),
            line.buchholz,
            line.byes,
            line.round,
        ]
        for line in standing(StoredTournament.get(store, number)).lines
    ]
    shown = EXPECTED["standings"][str(number)]
    assert [(*line[:4], *line[6:]) for line in lines] == [(*line[:4], *line[6:]) for line in shown]
    if not any(byes for *_, byes, _ in shown):
        assert lines == shown


def test_ratings_are_those_of_1_0_and_a_rebuild_gives_them_again(store: Store) -> None:
    for _ in range(2):
        ratings = store.ratings.strengths(EXPECTED["pool"], [1, 2, 3])
        found = {str(version): [rating.mu, rating.sigma] for version, rating in ratings.items()}
        assert found == {version: pytest.approx(pair, abs=1e-9) for version, pair in EXPECTED["ratings"].items()}
        assert store.ratings.rebuild() > 0


def test_upgrade_on_the_command_line_tells_what_to_run_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay_database(tmp_path)
    options = ["--data", str(tmp_path)]
    assert run(["db", "upgrade", *options]) == Exit.DONE
    command = f"arena ratings rebuild --data {tmp_path}"
    assert f"`{command}`" in capsys.readouterr().err.replace("\n", " ")
    assert run(["ratings", "rebuild", *options]) == Exit.DONE
    assert run(["ratings", "rebuild", "--check", *options]) == Exit.DONE
    capsys.readouterr()
    assert run(["db", "upgrade", *options]) == Exit.DONE
    assert command not in capsys.readouterr().err


def test_games_and_schedule_are_kept(store: Store) -> None:
    games = sum(sum(store.games.counts(int(number)).values()) for number in EXPECTED["standings"])
    assert games == EXPECTED["games"]
    (schedule,) = store.schedules.all()
    assert (schedule.name, schedule.cron) == ("Friday cup {date}", "0 20 * * 5")
