"""Why a move is not legal, in the words of players, for each family and in French."""

from __future__ import annotations

import random

import pytest

from arena.pages import language
from referee.rules import families, load
from referee.rules.core import ParseError
from referee.rules.move_input import refusal
from referee.rules.position import Position


def why(family: str, text: str, position: str | None = None, variant: str | None = None) -> str:
    at = Position.start(load(family).settle(variant), position)
    code = at.ruleset.rules.notation.read_move(text, at.state, at.ruleset.config)
    assert code not in at.moves
    return refusal(at, code)


@pytest.mark.parametrize(
    ("family", "text", "reason"),
    [
        ("loa", "d4d5", "d4 is empty"),
        ("loa", "a2c2", "the piece on a2 is not yours"),
        ("loa", "b1c3", "b1 and c3 are not on one line"),
        ("loa", "b1b4", "2 pieces are on this line, so the piece moves 2 squares"),
        ("loa", "b1g1", "6 pieces are on this line, so the piece moves 6 squares"),
        ("loa", "pass", "you can move, so you may not pass"),
        ("abalone", "e5e6", "e5 is empty"),
        ("abalone", "b2b1", "the row would push your own marble off the board"),
        ("abalone", "a1a2", "5 marbles are in this row, and at most three move together"),
        ("abalone", "a1a2b1", "b1 is not empty, and marbles that step sideways push nothing"),
        ("tablut", "e5e6", "the piece on e5 is not yours"),
        ("tablut", "e2e3", "e3 is not empty"),
        ("tablut", "e1b1", "the piece on d1 is in the way"),
        ("tablut", "e2c3", "e2 and c3 are not on one line of the board"),
        ("baroque", "e4e5", "e4 is empty"),
        ("baroque", "a2b3", "the pincer moves like a rook"),
        ("baroque", "d1d3", "the piece on d2 is in the way"),
        ("pijersi", "a1-c1", "a1 and c1 are not neighbours"),
        ("pijersi", "b4=e4", "a stack moves one or two cells in a straight line"),
        ("pijersi", "a1-b4", "a1 and b4 are not neighbours"),
    ],
)
def test_refusal_is_in_the_words_of_players(family: str, text: str, reason: str) -> None:
    assert why(family, text) == reason


@pytest.mark.parametrize(
    ("family", "position", "text", "reason"),
    [
        ("abalone", "5/6/7/8/2SSss3/8/7/6/5 0 0 b 0 1", "e3e4", "this row cannot be pushed: 2 against 2"),
        ("abalone", "5/6/7/8/2SSsS3/8/7/6/5 0 0 b 0 1", "e3e4", "the marble on e6 blocks the row"),
        ("loa", "7w/8/8/8/8/8/8/bw1b4 b - 1", "a1d1", "the piece on b1 is in the way"),
        ("loa", "7w/8/8/8/8/8/8/b1b4w b - 1", "c1c3", "the piece is alone on this line, so it moves one square"),
        ("baroque", "4k3/8/8/8/8/8/P2m4/3Q1K2 w 0 1", "d1c1", "the withdrawer on d1 is frozen"),
    ],
)
def test_refusal_in_a_position(family: str, position: str, text: str, reason: str) -> None:
    assert why(family, text, position) == reason


@pytest.mark.parametrize("family", families())
def test_every_refusal_has_a_french_sentence(family: str) -> None:
    rules = load(family)
    dice, at = random.Random(1), Position.start(rules.settle())
    cells = [cell.name for cell in at.board.cells]
    for _ in range(20):
        own = [cell for cell, held in at.board.pieces.items() if at.ruleset.owner(held[-1]) == at.side]
        for _ in range(20):
            text = dice.choice(own) + "".join(dice.choices(cells, k=dice.choice((1, 1, 2))))
            try:
                code = rules.notation.read_move(text, at.state, at.ruleset.config)
            except ParseError:
                continue
            if code not in at.moves and (said := refusal(at, code)):
                with language.using("fr"):
                    assert language.translated(said) != said
        at = at.play(dice.choice(at.moves))
