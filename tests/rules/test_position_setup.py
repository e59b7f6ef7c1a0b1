"""Positions set up by hand: the composed string, and the checks of the family."""

from __future__ import annotations

import random

import pytest

from referee.rules import families, load
from referee.rules.core import SIDES, ParseError
from referee.rules.position import Position
from referee.rules.position_setup import PositionSetupError, compose


@pytest.mark.parametrize("family", families())
def test_composed_position_has_the_given_pieces(family: str) -> None:
    """Positions of a random game, composed cell by cell and read again, have the same pieces and side to move."""
    ruleset = load(family).settle()
    lot, at = random.Random(7), Position.start(ruleset)
    for _ in range(12):
        for side in SIDES:
            try:
                composed = Position.start(ruleset, compose(ruleset, at.board.pieces, side))
            except ParseError:  # such as a check that the side to move has left standing
                assert side != at.side
                continue
            assert composed.board.pieces == at.board.pieces
            assert composed.side == side
        if not at.moves:
            break
        at = at.play(lot.choice(at.moves))


@pytest.mark.parametrize(
    ("family", "pieces", "problem"),
    [
        ("loa", {"a1": "b"}, "White has no piece"),
        ("tablut", {"a1": "t", "e5": "T"}, "a soldier on the throne"),
        ("tablut", {"a1": "K", "a2": "K"}, "a second king"),
    ],
)
def test_family_rejects_invalid_composed_positions(family: str, pieces: dict[str, str], problem: str) -> None:
    ruleset = load(family).settle()
    with pytest.raises(ParseError, match=problem):
        Position.start(ruleset, compose(ruleset, pieces, "first"))


def test_unknown_cells_and_pieces_are_rejected() -> None:
    ruleset = load("loa").settle()
    for pieces, problem in (
        ({"z9": "b"}, "unknown cell"),
        ({"a1": "q"}, "unknown piece"),
        ({"a1": "bw"}, "2 pieces on a1"),
    ):
        with pytest.raises(PositionSetupError, match=problem):
            compose(ruleset, pieces, "first")
