"""The page of fair starts says what an atlas has measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena.atlas import published
from arena.atlas.report import to_csv
from tests.arena.atlas.test_report import thrown
from tests.arena.pages.conftest import Site

TRUTH = {"standard": 0.9, **{f"pijersi-8100#{number * 300}": 0.3 + number / 40 for number in range(12)}}


def test_starts_are_shown_with_boards_sorted_and_as_data(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pijersi.csv").write_text(to_csv(thrown(tmp_path / "run", TRUTH, 400)))
    monkeypatch.setattr(published, "_DATA", tmp_path)
    published.published.cache_clear()
    try:
        known = published.published("pijersi")
        page = site.server.get("/pijersi/starts").body.decode()
        assert names(page) == [one.variant for one in sorted(known, key=lambda one: (abs(one.shrunk), one.variant))]
        assert page.count("board-small") == 8
        assert page.count('<rect class="bar') > 4
        assert names(site.server.get("/pijersi/starts?sort=-elo").body.decode())[0] == "standard"
        data = site.server.get("/pijersi/starts.json").json
        assert len(data["starts"]) == len(TRUTH)
        assert data["starts"][0]["variant"] == "standard"
        assert "CC0" in data["remarks"]
        assert "Nothing has been measured" in site.server.get("/loa/starts").body.decode()
    finally:
        published.published.cache_clear()


def names(page: str) -> list[str]:
    return re.findall(r"<code>([^<]+)</code></a></th>", page)
