"""The database of a league follows the schema, which its SQL does not read."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from arena.store import Store
from tests.tools.bench import league


def test_league_is_built_with_every_column(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = league.open_league(2, 4)
    with closing(Store(made.url)) as store:
        assert store.results.last_commit() == made.games == 32
        assert [store.tournaments.get(number).finished_games for number in (1, 2)] == [16, 16]
