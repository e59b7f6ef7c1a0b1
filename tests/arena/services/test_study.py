"""Lines on the analysis board: legal moves, and errors for illegal ones."""

from __future__ import annotations

import pytest

from arena.errors import BadValueError
from arena.services import study


def test_choice_names_the_cells_to_pick() -> None:
    found = study.choice("loa", moves="b1-b3 a4c6")
    assert (found.side, found.outcome) == ("first", None)
    assert found.position.startswith("1bbbbbb1/")
    one = next(move for move in found.moves if move.move == "b3e3")
    assert (one.shown, one.ways) == ("b3-e3", (("b3", "e3"),))


def test_stack_that_may_split_has_two_moves() -> None:
    moves = study.choice("pijersi").moves
    alike = [move for move in moves if ("b4", "c4") in move.ways]
    assert [(move.shown, move.effect) for move in alike] == [
        ("b4-c4", "unstacks to c4"),
        ("b4=c4", "the stack goes to c4"),
    ]
    assert ("b4", "c3", "d3") in [way for move in moves for way in move.ways]


def test_broadside_can_be_entered_from_either_end() -> None:
    found = next(move for move in study.choice("abalone").moves if move.move == "c3c5d3")
    assert found.ways == (("c3", "c5", "d3"), ("c5", "c3", "d5"))


def test_pass_has_no_cells_to_pick() -> None:
    passes = [move for move in study.choice("pijersi", options="swap_phase=true").moves if move.ways == ((),)]
    assert [move.move for move in passes] == ["()"]


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"variant": "nonsuch"}, "variant", "unknown variant"),
        ({"options": "nonsuch=1"}, "options", "unknown option"),
        ({"position": "8/8 b"}, "position", "rank"),
        ({"moves": "b1b3 zz"}, "moves", "cannot read zz: not a move"),
        ({"moves": "b1b3 zz b1b3"}, "moves", "move 2: cannot read zz: not a move"),
        ({"moves": "b1b3 b1b3"}, "moves", "b1b3 is illegal; b1 is empty"),
        ({"moves": "b1b3 b1b3 a2c2"}, "moves", "move 2: b1b3 is illegal; b1 is empty"),
        ({"moves": "b1b3 " * 1001}, "moves", "too many moves: 1001"),
    ],
)
def test_illegal_line_error_names_the_move(given: dict[str, str], field: str, words: str) -> None:
    with pytest.raises(BadValueError) as raised:
        study.choice("loa", **given)
    assert raised.value.field == field
    assert words in f"{raised.value}; {raised.value.hint}"


def test_line_can_end_the_game() -> None:
    position = "8/8/8/3b4/3wb3/8/8/8 b - 1"
    found = study.choice("loa", position=position)
    assert found.outcome is not None
    assert (found.outcome.winner, found.outcome.reason.value) == ("draw", "simultaneous-connection")
    assert found.moves == ()
