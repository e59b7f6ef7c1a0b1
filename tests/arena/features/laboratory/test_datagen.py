"""Positions from games of a bot against itself: labelled, without doubles, the same bytes whatever happens."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from arena.__main__ import main
from arena.features.laboratory.parameter import LaboratoryError
from arena.features.laboratory.positions import (
    SCHEMA,
    Positions,
    SeenPositions,
    positions_of,
    read_positions,
    read_schema,
)
from bots.search.net import NET, SEARCH_FEATURES, TEMPO, load_net
from bots.training.__main__ import main as train
from referee.game.record import GameRecord, Ply, read_record
from referee.rules import load
from referee.rules.core import Termination
from referee.rules.symmetry import keys_of
from tests.conftest import INTERPRETED

COUNT = 40


def generate(folder: Path) -> None:
    """A small run."""
    words = [
        "datagen",
        "--family",
        "loa",
        "--positions",
        str(COUNT),
        "--nodes",
        "60",
        "--seed",
        "1",
        "--games-per-shard",
        "4",
    ]
    words += ["--max-plies", "12", "--sandbox", "none", "--out", str(folder), "-q"]
    subprocess.run([sys.executable, "-m", "arena", *words], check=True, timeout=500, env={**os.environ, **INTERPRETED})


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of positions, by the command."""
    folder = tmp_path_factory.mktemp("datagen") / "loa"
    generate(folder)
    return folder


def test_a_folder_says_what_is_in_it(generated: Path) -> None:
    schema = read_schema(generated)
    positions = read_positions(generated)
    assert schema["positions"] == len(positions) == COUNT
    assert (schema["family"], schema["seed"], schema["nodes"]) == ("loa", 1, 60)
    for column in schema["fields"]:
        column_of = getattr(positions, column["name"])
        assert (column_of.dtype.name, list(column_of.shape[1:])) == (column["type"], column["shape"])
        assert column["meaning"]
    assert len(schema["shards"]) > 1


def test_a_net_of_the_champion_is_made_of_it(generated: Path, tmp_path: Path) -> None:
    """By command, from nothing, and the same again."""
    files = [tmp_path / "one.npz", tmp_path / "two.npz"]
    for file in files:
        train([str(generated), "--out", str(file), "--epochs", "2", "--validation-split", "0.3", "--tempo", "7"])
    first, second = (np.load(file) for file in files)
    assert first["weights"].any()
    assert (first["weights"] == second["weights"]).all()
    origin = json.loads(str(first["provenance"]))
    assert (origin["family"], origin["positions"], origin["data"][0]["seed"]) == ("loa", COUNT, 1)
    ruleset = load("loa").settle()
    net = load_net(ruleset, files[0])
    assert (net.maps[0, TEMPO], net.maps[0, SEARCH_FEATURES]) == (7, NET)
    assert (net.rows[:-1] == first["weights"]).all()


def test_positions_are_those_of_the_games_with_their_labels(generated: Path) -> None:
    ruleset, positions = load("loa").settle(), read_positions(generated)
    keys = keys_of(ruleset, positions.state)
    assert len(set(keys.tolist())) == COUNT
    lines = (generated / "games" / "0001" / "games.ndjson").read_text().splitlines()
    records = {record.sequence - 1: record for record in map(read_record, lines)}
    checked = 0
    for row in np.flatnonzero(positions.game < 4):
        record = records[int(positions.game[row])]
        number = int(positions.ply[row])
        ply = record.plies[number]
        assert not ply.book
        assert positions.score[row] == ply.score
        assert positions.side[row] == number % 2
        assert positions.result[row] == 2 * record.points[number % 2] - 1
        checked += 1
    assert checked > 4


def test_an_interrupted_run_goes_on_to_the_same_bytes(generated: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    shutil.copytree(generated, again)
    schema = read_schema(again)
    last = schema["shards"].pop()
    schema["positions"] -= last["positions"]
    (again / SCHEMA).write_text(json.dumps(schema))
    (again / last["file"]).unlink()  # killed in the last lot, in the middle of a game's line
    games = again / "games" / f"{len(schema['shards']) + 1:04}" / "games.ndjson"
    games.write_bytes(games.read_bytes()[:-40])
    generate(again)
    for name in (SCHEMA, *(shard["file"] for shard in read_schema(generated)["shards"])):
        assert (again / name).read_bytes() == (generated / name).read_bytes(), name
    (again / last["file"]).write_bytes(b"nothing")
    with pytest.raises(LaboratoryError, match="not the shard"):
        read_positions(again)


def test_games_that_no_rule_decided_teach_nothing() -> None:
    ruleset = load("loa").settle()
    said = Ply(score=30)
    for termination, count in ((Termination.REPETITION, 2), (Termination.CRASHED, 0), (Termination.WORKER_LOST, 0)):
        winner = None if count == 0 and termination is Termination.WORKER_LOST else "first"
        record = GameRecord(
            "id", "loa", "standard", {}, ruleset.variant.position, "one", "two", winner, termination,  # type: ignore[arg-type]
            termination.kind, ("b1b3", "a2c2", "c1c3"), (said, Ply(), said), "", "",
        )  # fmt: skip
        positions = positions_of(ruleset, record, 7)
        assert len(positions) == count
        assert positions.result.tolist() == [1, 1][:count]
        assert positions.ply.tolist() == [0, 2][:count]


def test_images_of_one_position_count_once() -> None:
    ruleset = load("loa").settle()
    start = ruleset.read(None)

    def after(*moves: str) -> Positions:
        record = GameRecord(
            "id", "loa", "standard", {}, ruleset.variant.position, "one", "two", "draw", Termination.REPETITION,
            Termination.REPETITION.kind, (*moves, "a2c2"), tuple(Ply(score=1) for _ in (*moves, "")), "", "",
        )  # fmt: skip
        positions = positions_of(ruleset, record, 0)
        assert (positions.state[0] == start).all()
        return positions

    seen = SeenPositions(ruleset)
    assert len(seen.add(after("b1b3"))) == 2
    assert len(seen.add(after("b1b3"))) == 0
    assert len(seen.add(after("g1g3"))) == 0, "the mirror image"
    assert len(seen.add(after("c1c3"))) == 1


def test_weights_are_made_from_nothing(generated: Path, tmp_path: Path) -> None:
    weights = tmp_path / "loa.json"
    assert main(["train", "--family", "loa", str(generated), "--output-file", str(weights)]) == 0
    found = json.loads(weights.read_text())
    assert (found["positions"], found["data"][0]["seed"]) == (COUNT, 1)
    assert len(found["weights"]) > 3
