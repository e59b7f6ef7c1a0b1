"""Descriptions of how games ended, for either loser."""

from __future__ import annotations

import pytest

from arena.pages import filters
from referee.rules import terminations
from referee.rules.core import Kind


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("crashed", "zeta's process ended"),
        ("resigned", "zeta resigned"),
        ("suspended", "zeta was suspended: it failed to start too many times in a row"),
        ("repetition", "a position was repeated too often"),
        ("draw-agreed", "one side offered a draw and the other accepted"),
        ("of-another-time", "of another time"),
        (None, ""),
    ],
)
def test_endings_name_the_loser(word: str | None, words: str) -> None:
    assert filters.ending(word, "zeta") == words


def test_every_fault_is_somebodys() -> None:
    faults = [word for word, one in terminations().items() if one.kind is Kind.FORFEIT]
    assert len(faults) > 5
    assert all("zeta" in filters.ending(word, "zeta") for word in faults)


@pytest.mark.parametrize(
    ("elo", "interval", "words"),
    [(-35.2, 10, "−35 ± 10"), (700, 450, "> +250"), (-1029, 482, "< −547"), (300, 500, "no estimate")],
)
def test_elo_interval_that_is_very_wide_becomes_a_bound_or_nothing(elo: float, interval: float, words: str) -> None:
    assert filters.elo_interval(elo, interval) == words
