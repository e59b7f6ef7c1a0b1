"""The pages of fair starts show the atlas's measurements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from arena.features.atlas.report import to_csv
from referee.game import starts as published
from referee.rules import families
from tests.arena.api.server import Server
from tests.arena.features.atlas.test_report import thrown
from tests.arena.pages.conftest import Site

TRUTH = {"standard": 0.9, **{f"pijersi-8100#{number * 300}": 0.3 + number / 40 for number in range(12)}}


def test_starts_are_shown_with_boards_sorted_and_as_data(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pijersi.csv").write_text(to_csv(thrown(tmp_path / "run", TRUTH, 400)))
    monkeypatch.setattr(published, "_DATA", tmp_path)
    published.published.cache_clear()
    try:
        known = published.published("pijersi")
        page = server.get("/pijersi/starts").body.decode()
        assert names(page) == [
            start.variant for start in sorted(known, key=lambda start: (abs(start.shrunk), start.variant))
        ]
        assert page.count("board-small") == 8
        assert page.count('<rect class="bar') > 4
        assert names(server.get("/pijersi/starts?sort=-elo").body.decode())[0] == "standard"
        data = server.get("/pijersi/starts.json").json
        assert len(data["starts"]) == len(TRUTH)
        assert data["starts"][0]["variant"] == "standard"
        assert "CC0" in data["remarks"]
        assert "No measurements for" in server.get("/loa/starts").body.decode()
    finally:
        published.published.cache_clear()


def names(page: str) -> list[str]:
    return re.findall(r"<code>([^<]+)</code></a></th>", page)


def test_a_start_has_its_page(site: Site) -> None:
    reply = site.server.get("/tablut/starts/fairest")
    assert reply.status == 303
    page = site.server.get(reply.headers["Location"]).body.decode()
    assert "Rank by fairness: 1 of" in page
    name = re.findall(r"<h1><code>([^<]+)</code>", page)[0]
    known = [start for start in published.published("tablut") if start.variant == name]
    counts = re.findall(r'<th [^>]*scope="row"[^>]*class="n"[^>]*>([\d,]+)', page)
    assert counts == [f"{start.nodes:,}" for start in known]
    top = max(known, key=lambda start: start.nodes)
    assert f"{top.first} / {top.draw} / {top.second}" in page
    neighbours = re.findall(r'<li><a href="(/tablut/starts/[^"]+)"', page)
    assert len(neighbours) == 2
    assert all(site.server.get(address).status == 200 for address in neighbours)
    assert f'href="{neighbours[0]}"' in site.server.get("/tablut/starts").body.decode()
    assert f"/tablut/board?variant={name.partition('+')[0]}" in page
    assert site.server.get("/tablut/starts/nowhere").status == 404


def test_a_start_with_other_rules_leads_to_a_board_with_them(site: Site) -> None:
    page = site.server.get("/tablut/starts/bell+king_max_step=3").body.decode()
    assert "variant=bell&amp;options=king_max_step%3D3" in page
    assert "whatever their options" in page
    assert site.server.get("/tablut/board?variant=bell&options=king_max_step%3D3").status == 200


def test_games_played_here_from_a_start_are_counted(site: Site) -> None:
    page = site.server.get("/abalone/starts/standard").body.decode()
    assert re.search(r"Games: <strong>[1-9]\d*</strong>\. Won by Black", page)


@pytest.mark.parametrize("family", families())
def test_the_histogram_of_starts_has_a_scale_of_its_figures(site: Site, family: str) -> None:
    page = site.server.get(f"/{family}/starts").body.decode()
    chart = page.partition('<svg class="chart"')[2].partition("</svg>")[0].replace("\N{MINUS SIGN}", "-")
    reach = max(int(one) for one in re.findall(r">([+-]\d+)\xa0%<", chart)) / 0.8
    ends = [abs(float(one)) for pair in re.findall(r"<title>(\S+) % to (\S+) %:", chart) for one in pair]
    assert reach - 10 < max(ends) <= reach
