"""Tags, marks, comments and drafts, which the notations of whole games share."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.rules import load
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.gametags import NAME, Draft, placed, write_tag
from referee.rules.position import Position, state_after
from referee.rules.rules import GameText
from referee.rules.tokens import unescaped_tag

LOA = load("loa")


@given(st.from_regex(NAME, fullmatch=True), st.text())
def test_a_tag_is_read_as_it_was_written(name: str, value: str) -> None:
    found = re.fullmatch(rf'\[({NAME}) "((?:[^"\\]|\\.)*)"\]', write_tag(name, value), re.DOTALL)
    assert found is not None
    assert (found[1], unescaped_tag(found[2])) == (name, value)


def test_an_error_in_a_piece_is_shown_in_the_whole() -> None:
    whole = "1. b1b3 zz"
    error = placed(ParseError("no cell", text="zz", index=1, hint="a1 to h8"), whole, 8)
    assert (error.problem, error.text, error.index, error.hint) == ("no cell", whole, 9, "a1 to h8")


def test_a_step_is_the_move_on_the_board_or_nothing() -> None:
    start = Position.start(LOA.settle())
    for move in start.moves:
        after = state_after(start.ruleset, start.state, move)
        assert after is not None
        assert after.tolist() == start.play(move).state.tolist()
    assert (
        state_after(start.ruleset, start.state, LOA.notation.read_move("a1a2", start.state, start.ruleset.config))
        is None
    )


def test_a_draft_becomes_a_game() -> None:
    draft = Draft(variant="zen", tags={"Event": "club"})
    draft.take_rule("Rule.max_plies", "40", LOA)
    assert draft.game(["b1b3"]) == GameText(("b1b3",), "zen", {"max_plies": 40}, None, {"Event": "club"}, "*")
    for name, value in (("Rule.max_plies", "many"), ("Rule.colour", "red")):
        with pytest.raises(UnknownNameError):
            draft.take_rule(name, value, LOA)
