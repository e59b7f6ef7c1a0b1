"""Perft: the same for every family, built from its kernel's `legal`, `play` and `count`."""

from __future__ import annotations

import pytest

from referee.rules import families, load
from referee.rules.per_family import perft
from referee.rules.random_walk import after, legal
from referee.rules.rules import Ruleset, State

DEPTHS = {"pijersi": 2, "tablut": 2}


def plain(ruleset: Ruleset, state: State, depth: int) -> int:
    if depth == 0:
        return 1
    return sum(plain(ruleset, after(ruleset, state, move), depth - 1) for move in legal(ruleset, state))


@pytest.mark.parametrize("family", families())
def test_perft_is_the_number_of_lines_of_legal_moves(family: str) -> None:
    ruleset = load(family).settle()
    state = ruleset.read()
    before = state.tobytes()
    for depth in range(DEPTHS.get(family, 3) + 1):
        assert perft(ruleset, state, depth) == plain(ruleset, state, depth), depth
    assert state.tobytes() == before


@pytest.mark.parametrize(
    ("family", "position"),
    [
        ("loa", "8/8/8/8/3w4/8/8/w6b b - 30"),
        ("pijersi", "R-5/7/6/7/6/6r-/6 w 0 1"),
        ("tablut", "9/9/9/9/9/9/9/9/t7K a 0 0"),
    ],
)
def test_a_decided_position_has_no_leaves_below_it(family: str, position: str) -> None:
    ruleset = load(family).settle()
    state = ruleset.read(position)
    assert [perft(ruleset, state, depth) for depth in (0, 1, 2, 3)] == [1, 0, 0, 0]
