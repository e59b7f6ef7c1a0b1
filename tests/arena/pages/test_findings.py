"""Pairwise statistics of a finished tournament: on its page, in the interface, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from arena.cli.terminal.result_statistics import show
from arena.store import Store
from arena.tournaments import findings
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
    found = Stage(store, folder)
    number = found.create(games=10)
    coordinator = found.coordinator(Dice(in_turn))
    while found.tournament(number).state != "finished":
        coordinator.turn()
    found.create(games=10)
    yield found
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
    found = server.get("/api/v1/tournaments/1/standings").json
    said = found["findings"]
    assert said["is_cyclic"]
    assert sorted(said["cycles"][0]) == ["ada v1", "bob v1", "cleo v1"]
    assert sum(one["share"] for one in said["shares"]) == pytest.approx(1, abs=0.02)
    assert {one["points"] for one in said["surprises"]} == {10}
    assert found["strengths"]["advantage"] > 0
    cells = {row["name"]: row["cells"] for row in server.get("/api/v1/tournaments/1/crosstable").json["items"]}
    of_ada = {cell["opponent"]: cell for cell in cells["ada v1"] if cell}
    assert (of_ada["bob v1"]["points"], of_ada["cleo v1"]["points"]) == (10, 0)
    assert of_ada["bob v1"]["expected"] == pytest.approx(5, abs=0.1)
    assert of_ada["bob v1"]["superiority"] == pytest.approx(0.5, abs=0.01)
    other = server.get("/api/v1/tournaments/2/standings").json
    assert other["findings"] is None


def test_the_terminal_says_it_in_plain_words(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    found = server.get("/api/v1/tournaments/1/standings").json
    show(found["strengths"], found["findings"])
    said = capsys.readouterr().out
    cycle = found["findings"]["cycles"][0]
    assert " beats ".join([*cycle, cycle[0]]) in said
    assert "10 of 10, expected 5.0" in said
    show({"advantage": 5.0, "advantage_interval": 20.0}, None)
    assert capsys.readouterr().out == ""
    show({"advantage": 25.0, "advantage_interval": 20.0}, None)
    assert capsys.readouterr().out == "moving first is worth +25 ± 20 Elo (95 %)\n"


def test_those_of_before_are_looked_at_once(stage: Stage) -> None:
    store, kept = stage.store, stage.tournament(1).findings
    assert kept
    assert store.tournaments.without_findings() == []
    with store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE tournaments SET findings = NULL")
    assert findings.keep_missing(store, lambda: True) == 0
    assert findings.keep_missing(store) == 1
    assert stage.tournament(1).findings == kept
    assert findings.keep_missing(store) == 0
