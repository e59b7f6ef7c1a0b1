"""Pairwise statistics of a finished tournament: on its page, in the interface, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from arena.cli.terminal.standings import show_findings
from arena.store import Store
from arena.tournaments import standing
from referee.game.record import GameRecord
from referee.game.spec import PlannedGame
from tests.arena.api.server import Server, settings_in
from tests.arena.coordinator.stage import Dice, Stage
from tests.arena.field import record_of

BEATS = {("ada", "bob"), ("bob", "cleo"), ("cleo", "ada")}


def in_turn(game: PlannedGame) -> GameRecord:
    """Return results where Ada beats Bob beats Cleo beats Ada, and all draw level with Dan."""
    one, two = (spec.name.split()[0] for spec in (game.spec.first, game.spec.second))
    winner = "first" if (one, two) in BEATS or "dan" in (one, two) else "second"
    return record_of(game, winner=winner)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A stage with two tournaments of all bots: 1 is over, 2 is not."""
    folder = tmp_path_factory.mktemp("circles")
    store = Store.in_folder(folder)
    opened = Stage(store, folder)
    number = opened.create(games=10)
    coordinator = opened.coordinator(Dice(in_turn))
    while opened.tournament(number).state != "finished":
        coordinator.turn()
    opened.create(games=10)
    yield opened
    store.close()


@pytest.fixture(scope="module")
def server(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    found = Server(stage.store, settings_in(tmp_path_factory.mktemp("server")))
    found.unlimited()
    yield found
    found.close()


def test_the_page_names_the_circle_and_shows_every_pair(server: Server) -> None:
    page = server.get("/tournaments/1").body.decode()
    assert "Non-transitive results" in page
    assert 'id="beyond"' in page
    assert "scored <strong>10 of 10</strong>" in page
    assert 'class="heat3"' in page
    assert 'class="heat-3"' in page
    assert "Likelihood of superiority" in page
    assert 'id="beyond"' not in server.get("/tournaments/2").body.decode()


def test_the_interface_says_the_same(server: Server) -> None:
    standings = server.get("/api/v1/tournaments/1/standings").json
    said = standings["findings"]
    assert said["is_cyclic"]
    assert sorted(said["cycles"][0]) == ["ada v1", "bob v1", "cleo v1"]
    assert sum(part["share"] for part in said["shares"]) == pytest.approx(1, abs=0.02)
    assert {surprise["points"] for surprise in said["surprises"]} == {10}
    assert standings["strengths"]["advantage"] > 0
    cells = {row["name"]: row["cells"] for row in server.get("/api/v1/tournaments/1/crosstable").json["items"]}
    of_ada = {cell["opponent"]: cell for cell in cells["ada v1"] if cell}
    assert (of_ada["bob v1"]["points"], of_ada["cleo v1"]["points"]) == (10, 0)
    assert of_ada["bob v1"]["expected"] == pytest.approx(5, abs=0.1)
    assert of_ada["bob v1"]["superiority"] == pytest.approx(0.5, abs=0.01)
    other = server.get("/api/v1/tournaments/2/standings").json
    assert other["findings"] is None


def test_the_terminal_says_it_in_plain_words(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    standings = server.get("/api/v1/tournaments/1/standings").json
    show_findings(standings["strengths"], standings["findings"])
    said = capsys.readouterr().out
    cycle = standings["findings"]["cycles"][0]
    assert " beats ".join([*cycle, cycle[0]]) in said
    assert "10 of 10, expected 5.0" in said
    show_findings({"advantage": 5.0, "advantage_interval": 20.0}, None)
    assert capsys.readouterr().out == ""
    show_findings({"advantage": 25.0, "advantage_interval": 20.0}, None)
    assert capsys.readouterr().out == "moving first is worth +25 ± 20 Elo (95 %)\n"


def test_those_of_before_are_looked_at_once(stage: Stage) -> None:
    store, kept = stage.store, stage.tournament(1).findings
    assert kept
    assert store.tournaments.without_findings() == []
    with store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE tournaments SET findings = NULL")
    assert standing.keep_missing_findings(store, lambda: True) == 0
    assert standing.keep_missing_findings(store) == 1
    assert stage.tournament(1).findings == kept
    assert standing.keep_missing_findings(store) == 0
