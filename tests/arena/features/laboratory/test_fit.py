"""The trainer: known weights are found again, whole games are held out, the file says where it comes from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from arena.__main__ import main
from arena.features.laboratory.fit import logistic, measure, newton, piece_squares, read_features
from arena.features.laboratory.parameter import LaboratoryError
from arena.features.laboratory.positions import SCHEMA, Positions, schema, sha256_of, write_shard
from referee.rules import load
from referee.rules.position import Position


def test_weights_are_found_again() -> None:
    rng = np.random.default_rng(1)
    columns, weights = rng.normal(size=(20_000, 3)) * [1, 5, 0.2], np.array([0.8, -0.3, 2.0])
    truth = (rng.random(20_000) < logistic(columns @ weights)).astype(float)
    assert newton(columns, truth, 1.0) == pytest.approx(weights, abs=0.15)


def test_measures_are_those_of_the_definitions() -> None:
    perfect, coin = (
        measure(np.array([0.0, 1.0]), np.array([0.0, 1.0])),
        measure(np.array([0.0, 1.0]), np.array([0.5, 0.5])),
    )
    assert (perfect.loss, perfect.r2) == pytest.approx((0, 1), abs=1e-6)
    assert (coin.loss, coin.r2) == pytest.approx((np.log(2), 0))


def test_features_are_the_same_for_images_of_a_position() -> None:
    ruleset = load("loa").settle()
    start = Position.start(ruleset)
    names, counts = piece_squares(ruleset, np.array([start.play(move).state for move in ("b1b3", "g1g3", "c1c3")]))
    assert counts.shape == (3, len(names))
    assert counts.sum(axis=1).tolist() == [24, 24, 24]
    assert (counts[0] == counts[1]).all()
    assert (counts[0] != counts[2]).any()
    with pytest.raises(LaboratoryError, match="no_such"):
        read_features("arena.no_such:thing")


def a_folder(folder: Path) -> Path:
    """Random games of LOA in which the first side wins whose result says so."""
    ruleset, rng = load("loa").settle(), np.random.default_rng(2)
    states, rows = [], []
    for game in range(12):
        position = Position.start(ruleset)
        for ply in range(8):
            states.append(position.state)
            won = 1 if game % 2 else -1
            rows.append((ply % 2, 100 * won * (1 - 2 * (ply % 2)), won * (1 - 2 * (ply % 2)), game, ply))
            position = position.play(int(rng.choice(position.moves)))
    columns = np.array(rows)
    kinds = (np.int8, np.int32, np.int8, np.int32, np.int16)
    positions = Positions(np.array(states), *(columns[:, place].astype(kind) for place, kind in enumerate(kinds)))
    folder.mkdir()
    sha256 = write_shard(folder / "shard-0001.npz", positions)
    origin = {"family": "loa", "variant": "standard", "options": {}, "bot": "dice", "nodes": 1, "seed": 2}
    shards = [{"file": "shard-0001.npz", "positions": len(positions), "sha256": sha256}]
    (folder / SCHEMA).write_text(json.dumps(schema(origin, positions, shards)))
    return folder


def test_weights_are_written_with_where_they_come_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = a_folder(tmp_path / "data")
    written = []
    for name in ("one.json", "two.json"):
        assert main(["train", "--family", "loa", str(folder), "--output-file", str(tmp_path / name)]) == 0
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    document = json.loads(written[0])
    assert document["data"] == [
        {"schema": sha256_of(folder / SCHEMA), "bot": "dice", "nodes": 1, "seed": 2, "positions": 96}
    ]
    assert (document["positions"], document["games"]) == (96, 12)
    assert document["measures"]["train"]["loss"] < np.log(2)
    assert {"static score", "first to move"} < document["weights"].keys()
    assert main(["train", "--family", "tablut", str(folder), "--output-file", str(tmp_path / "no.json")]) == 2
    assert "several variants, or not of tablut" in capsys.readouterr().err
