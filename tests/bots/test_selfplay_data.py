"""Positions to learn from: games of the champion against itself, the same from the same arguments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bots.search.net import NET, SEARCH_FEATURES, TEMPO, load_net
from bots.training.__main__ import main as train
from bots.training.selfplay_data import FILE, main
from referee.rules import load
from referee.rules.symmetry import keys_of

RULESET = load("pijersi").settle()
COUNT = 300


def made(folder: Path, *more: str) -> Path:
    """A folder of few positions."""
    words = [
        "--family",
        "pijersi",
        "--weights",
        "none",
        "--positions",
        str(COUNT),
        "--nodes",
        "60",
        "--random-move-percent",
        "20",
    ]
    main([*words, *more, "--out", str(folder)])
    return folder


def test_the_same_arguments_make_the_same_positions_and_none_twice(tmp_path: Path) -> None:
    folder, same, other = (made(tmp_path / name, "--seed", seed) for name, seed in (("a", "1"), ("b", "1"), ("c", "2")))
    assert (folder / FILE).read_bytes() == (same / FILE).read_bytes() != (other / FILE).read_bytes()
    with np.load(folder / FILE) as kept:
        assert len(np.unique(keys_of(RULESET, kept["state"]))) == COUNT
        assert set(np.unique(kept["result"])) <= {-1, 0, 1}
        for game in np.unique(kept["game"]):
            rows = kept["game"] == game
            assert len(np.unique(kept["result"][rows] * (1 - 2 * kept["side"][rows]))) == 1  # one winner a game


def test_what_they_are_made_of_trains_a_net(tmp_path: Path) -> None:
    made(tmp_path / "data")
    train([str(tmp_path / "data"), "--out", str(tmp_path / "net.npz"), "--epochs", "1", "--validation-split", "0.3"])
    net = load_net(RULESET, tmp_path / "net.npz")
    assert net.maps[0, SEARCH_FEATURES] == NET
    assert net.maps[0, TEMPO] >= 0
    made(tmp_path / "more", "--weights", str(tmp_path / "net.npz"))


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        made(tmp_path)
    assert "File exists" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_weights_that_are_not_there_are_refused_and_nothing_is_left_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        made(tmp_path / "out", "--weights", str(tmp_path / "none.npz"))
    assert "no file" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
