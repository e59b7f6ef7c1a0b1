"""Fits of win models: the scale is recovered from results that follow one."""

from __future__ import annotations

import random
import tomllib
from importlib.resources import files

import pytest

from arena.analysis.win_model import TooFewPositionsError, WinModel, fit, shipped


def test_fit_recovers_the_scale_of_generated_results() -> None:
    source = random.Random(1)
    win_model = WinModel(300.0, "made up")
    seen = []
    for _ in range(20_000):
        score = source.randint(-900, 900)
        seen.append((score, float(source.random() < (1 + win_model.winning_chances(score)) / 2)))
    fitted = fit(seen)
    assert fitted.scale == pytest.approx(300, rel=0.05)
    assert fitted.positions == 20_000
    assert 0 < fitted.log_loss < 0.69


def test_fit_ignores_forced_wins_and_needs_enough_positions() -> None:
    with pytest.raises(TooFewPositionsError, match="150 positions"):
        fit([(29_990, 1.0)] * 500 + [(100, 1.0)] * 150)


def test_fit_counts_draws_as_half() -> None:
    assert fit([(100, 0.5)] * 300).scale == pytest.approx(5_000, rel=0.01)


def test_shipped_win_models_name_their_data() -> None:
    data = tomllib.loads(files("arena.analysis").joinpath("win_models.toml").read_text(encoding="utf-8"))
    for family, one in data["families"].items():
        assert shipped(family) == WinModel(one["scale"], f"shipped {data['version']}")
        assert one["games"] >= 40
        assert one["positions"] >= 200
        assert one["log_loss"] < 0.6932
    assert shipped("a family nobody knows").version == "usual"
