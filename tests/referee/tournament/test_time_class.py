"""Time classes: bounds, games without clocks, and settings without a time control."""

from __future__ import annotations

from itertools import pairwise

import pytest

from referee.game.spec import read_time_control
from referee.tournament.preview import NAMES, TIME_CLASSES, UNTIMED, time_class_in, time_class_of


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("0.5+0.02", "lightning"),
        ("10+0.1", "bullet"),
        ("60+1", "blitz"),
        ("300", "rapid"),
        ("3600+30", "classical"),
        ("40/29", "bullet"),
        ("20/29", "blitz"),
        ("1/5", "blitz"),
        ("40/300", "rapid"),
        ("1/move", "blitz"),
        ("nodes:1000", UNTIMED),
        ("depth:4", UNTIMED),
    ],
)
def test_every_time_control_has_a_class(text: str, name: str) -> None:
    assert time_class_of(read_time_control(text)) == name
    assert time_class_in({"time_control": text}) == name


def test_a_bound_belongs_to_the_longer_class() -> None:
    for pace, longer in pairwise(TIME_CLASSES):
        assert pace.below_s is not None
        assert time_class_of(read_time_control(f"{pace.below_s / 2:g}")) == longer.name
        assert pace.words.startswith("below")
    assert len(set(NAMES)) == len(TIME_CLASSES) + 1


def test_settings_without_a_time_have_none() -> None:
    assert time_class_in({}) == ""
    assert time_class_in({"time_control": "soon"}) == ""
