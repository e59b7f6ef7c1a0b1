"""Adjudication at the very ply: a game is drawn by score then, not a ply sooner or later."""

from __future__ import annotations

import pytest

from referee.adjudicate import Adjudicator
from referee.rules.core import Outcome
from referee.spec import Adjudication


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


@pytest.mark.parametrize(("score", "ply"), [(-600, 3), (-599, None), (600, 4), (599, None)])
def test_a_game_is_lost_by_score_after_so_many_moves_of_the_loser(score: int, ply: int | None) -> None:
    """Only one side's scores are as extreme: of the loser, or of the winner where both must agree."""
    losing, winning = (score, 600) if score < 0 else (-600, score)
    rule = Adjudication(resign_moves=2, resign_score=600, resign_both=score > 0)
    sides = [losing, winning] if score < 0 else [winning, losing]
    found = ends(rule, sides * 4)
    assert (found and found[0]) == ply
    if found:
        assert found[1].reason == "win-by-score"
        assert found[1].winner == ("second" if score < 0 else "first")


def test_a_game_is_drawn_at_the_most_plies() -> None:
    found = ends(Adjudication(max_plies=3), [None] * 5)
    assert found is not None
    assert (found[0], found[1].reason) == (3, "max-plies")
