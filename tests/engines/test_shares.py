"""Engines without clocks use most of the time that the champion uses, in every family."""

from __future__ import annotations

import pytest

from referee.rules import families, load
from tests.engines.shares import games


@pytest.mark.parametrize("control", ["2+0.1", "10+0.1"])
@pytest.mark.parametrize("family", families())
def test_engine_without_clocks_uses_most_of_the_champions_time_in_games(family: str, control: str) -> None:
    rules = load(family)
    most = 1.0 if rules.game_moves >= 100 else 0.95  # in games this long both use up their clocks
    assert 0.6 <= games(rules.settle(), control, 4).share <= most
