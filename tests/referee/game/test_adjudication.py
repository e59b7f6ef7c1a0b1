"""Adjudication at the very ply: a game is drawn by score then, not a ply sooner or later."""

from __future__ import annotations

import pytest

from referee.game.adjudication import Adjudicator
from referee.game.spec import Adjudication
from referee.rules.core import Outcome, Termination


def ends(rule: Adjudication, scores: list[int | None]) -> tuple[int, Outcome] | None:
    """The ply at which a game with these scores ends, and how."""
    adjudicator = Adjudicator(rule)
    for number, score in enumerate(scores, 1):
        if outcome := adjudicator.ply((number - 1) % 2, number, score, offers_draw=False):
            return number, outcome
    return None


@pytest.mark.parametrize(
    ("after", "moves", "scores", "ply"),
    [
        (1, 2, [10] * 9, 4),
        (6, 2, [10] * 9, 6),
        (1, 2, [10, 10, 11, 10, -10, 10, 10, 10], 7),
        (1, 2, [10, 10, None, 0, 0, 0, 0], 7),
        (1, 2, [10, 10, 10], None),
        (1, 2, [11] * 9, None),
    ],
)
def test_draw_by_score_comes_at_its_ply(after: int, moves: int, scores: list[int | None], ply: int | None) -> None:
    found = ends(Adjudication(draw_after_ply=after, draw_moves=moves, draw_score=10), scores)
    assert (found and found[0]) == ply
    if found:
        assert (found[1].winner, found[1].reason) == ("draw", "draw-by-score")


@pytest.mark.parametrize(
    ("needs_both", "scores", "ply", "winner"),
    [
        (False, [-600, 0, -600], 3, "second"),
        (False, [0, -600, 0, -600], 4, "first"),
        (False, [-600, 0, -599, 0, -600, 0, -600], 7, "second"),
        (False, [-600, 0, None, 0, -600, 0, 0], None, ""),
        (True, [600, -600, 600, -600], 4, "first"),
        (True, [0, -600, 600, -600, 600, -600], 6, "first"),
        (True, [-600, 600, -600, 600, -600], 5, "second"),
        (True, [-600, 600, -600, 599, -600, 600, -600, 600, -600], 9, "second"),
        (True, [-600, 0] * 5, None, ""),
    ],
)
def test_a_game_is_lost_by_score_at_its_ply(
    needs_both: bool, scores: list[int | None], ply: int | None, winner: str
) -> None:
    found = ends(Adjudication(resign_moves=2, resign_score=600, resign_both=needs_both), scores)
    assert (found and found[0]) == ply
    if found:
        assert (found[1].winner, found[1].reason) == (winner, "win-by-score")


@pytest.mark.parametrize(
    ("offers", "ply"), [([True], None), ([False, True], None), ([True, False, True], None), ([False, True, True], 3)]
)
def test_a_draw_is_agreed_when_the_answer_to_an_offer_is_an_offer(offers: list[bool], ply: int | None) -> None:
    adjudicator = Adjudicator(Adjudication(draw_agreement=True))
    found = [adjudicator.ply((number - 1) % 2, number, 0, one) for number, one in enumerate(offers, 1)]
    expected = [None] * len(offers)
    assert found == [*expected[:-1], Outcome("draw", Termination.DRAW_AGREED) if ply else None]


@pytest.mark.parametrize(("answered", "is_drawn"), [((), False), ((0,), False), ((1,), True)])
def test_only_a_bot_that_answers_takes_a_draw_by_its_score(answered: tuple[int, ...], is_drawn: bool) -> None:
    adjudicator = Adjudicator(Adjudication(draw_agreement=True), answered)
    assert adjudicator.ply(0, 99, 0, offers_draw=True) is None
    assert (adjudicator.ply(1, 100, 0, offers_draw=False) is not None) == is_drawn


def test_a_game_is_drawn_at_the_most_plies() -> None:
    found = ends(Adjudication(max_plies=3), [None] * 5)
    assert found is not None
    assert (found[0], found[1].reason) == (3, "max-plies")


@pytest.mark.parametrize("side", [0, 1])
def test_the_first_ply_ends_no_game_by_what_the_other_side_has_not_said(side: int) -> None:
    """In a position with the second side to move, its ply is the first one."""
    rule = Adjudication(draw_agreement=True, resign_moves=1, resign_score=600, resign_both=True)
    assert Adjudicator(rule).ply(side, 1, -600, offers_draw=True) is None
