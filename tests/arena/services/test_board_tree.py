"""The tree of the analysis board: written in every notation and read back, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import BadValueError
from arena.services import study
from referee.rules import load
from referee.rules.position import Position
from tests.rules.test_variations import forms, tree

LOA = load("loa").settle()
ALL = "{Title} b1b3 {!? bold} [c1c3 h4f2 {better} [h2f2 {?? loses a man}] d1d3] [d1d3] h4f2 {} [h5f5] c1c3"


def test_a_tree_becomes_a_game_with_marks_comments_and_variations() -> None:
    game = study.read_tree(LOA, "", ALL)
    assert game.moves == ("b1b3", "h4f2", "c1c3")
    assert (game.marks, game.comments) == ({1: "!?"}, {0: "Title", 1: "bold"})
    first, second, third = game.variations
    assert (first.ply, first.moves, first.comments) == (1, ("c1c3", "h4f2", "d1d3"), {2: "better"})
    assert (first.variations[0].moves, first.variations[0].marks, first.variations[0].comments) == (
        ("h2f2",),
        {2: "??"},
        {2: "loses a man"},
    )
    assert (second.ply, second.moves, third.ply, third.moves) == (1, ("d1d3",), 2, ("h5f5",))
    assert study.tree_of_game(game) == ALL.replace(" {}", "")


@given(st.data())
@settings(deadline=None, max_examples=15)
def test_a_tree_is_read_back_from_every_notation(data: st.DataObject) -> None:
    drawn = tree(data, load("abalone").settle())
    ruleset = load("abalone").settle(drawn.variant, drawn.options)
    written = study.tree_of_game(study.read_tree(ruleset, "", study.tree_of_game(drawn)))
    line = study.read(ruleset, "", drawn.moves)
    for form in forms(ruleset):
        if drawn.moves:
            text = study.write_tree(line, written, form.name)
            collected, again = study.tree_of_text(ruleset, text)
            assert (again, collected.ruleset.values) == (written, ruleset.values), f"{form.name}: {text}"


def test_the_moves_of_the_line_are_written_without_a_tree() -> None:
    line = study.read(LOA, "", ["b1b3", "h4f2"])
    found, again = study.tree_of_text(LOA, study.write_tree(line, " ", "record"))
    assert (found.game.moves, again) == (("b1b3", "h4f2"), "b1b3 h4f2")


def test_a_tree_from_a_position_keeps_the_position() -> None:
    position = "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1"
    move = Position.start(LOA, position).texts[0]
    game = study.read_tree(LOA, position, move)
    assert game.position == position
    found, _ = study.tree_of_text(LOA, study.write_tree(study.read(LOA, position, ()), move, LOA.rules.formats[0].name))
    assert found.game.position == position


def test_a_game_that_is_over_in_a_tree_has_its_result() -> None:
    game = study.read_tree(LOA, "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1", "d2c3 [d2d4]")
    assert game.result == "1-0"


@pytest.mark.parametrize(
    ("tree_text", "problem"),
    [
        ("b1b3 b1b3", "illegal move 'b1b3'"),
        ("b1b3 [zz]", "zz"),
        ("[b1b3]", "replaces no move"),
        ("b1b3 " + "[c1c3 " * 20, "too large"),
        ("x " * 5_000, "too large"),
        ("x" * 50_000, "too long"),
    ],
)
def test_a_tree_that_cannot_be_read_is_refused(tree_text: str, problem: str) -> None:
    with pytest.raises(BadValueError, match=problem) as caught:
        study.read_tree(LOA, "", tree_text)
    assert caught.value.field == "tree"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "no game"), ("1. b1b3 b1b3", "illegal"), ("x" * 50_000, "too long")],
)
def test_a_text_without_a_legal_game_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BadValueError, match=problem) as caught:
        study.tree_of_text(LOA, text)
    assert caught.value.field == "text"


def test_a_notation_without_variations_is_refused_for_a_tree_with_some() -> None:
    line = study.read(LOA, "", ["b1b3"])
    reversed_one = next(form.name for form in LOA.rules.formats if form not in forms(LOA))
    with pytest.raises(BadValueError, match="no variations"):
        study.write_tree(line, "b1b3 [c1c3]", reversed_one)
    assert study.write_tree(line, "b1b3", reversed_one)
    with pytest.raises(BadValueError, match="unknown notation"):
        study.write_tree(line, "b1b3", "nonsuch")
