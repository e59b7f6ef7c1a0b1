"""How much of the line that a bot expects is kept."""

from __future__ import annotations

import pytest

from referee.game.score import MAX_LETTERS, MAX_MOVES, kept_variation


@pytest.mark.parametrize(
    ("moves", "text"),
    [
        ([], ""),
        (["b1b3", "h4f2"], "b1b3 h4f2"),
        (["a1"] * 50, " ".join(["a1"] * MAX_MOVES)),
        (["b1b3", "x" * 41, "h4f2"], "b1b3"),
        (["b1b3", "[%eval", "9]"], "b1b3 [%eval"),
        (["{", "b1b3"], ""),
        (["é", "b1b3"], ""),
    ],
)
def test_a_line_is_kept_up_to_what_is_no_move(moves: list[str], text: str) -> None:
    assert kept_variation(moves) == text


def test_a_line_is_as_long_as_the_news_of_it_may_be() -> None:
    assert len(kept_variation(["x" * 39] * 12)) == 3 * 40 - 1 <= MAX_LETTERS
    assert len(kept_variation(["x" * 40] * 12)) <= MAX_LETTERS
