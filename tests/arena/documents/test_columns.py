"""Columns of tables: by which values their rows are sorted."""

from __future__ import annotations

import pytest

from arena.documents.archive import PlayedFigures
from arena.documents.columns import MOVES


@pytest.mark.parametrize("key", ["score", "rating", "performance"])
@pytest.mark.parametrize("figure", [0.0, 0.5, None])
def test_rank_of_a_move_without_points_is_known(key: str, figure: float | None) -> None:
    row = PlayedFigures(
        games=1,
        first=0,
        draw=0,
        second=1,
        other=0,
        last="",
        best=None,
        score=figure,
        rating=figure,
        performance=figure,
    )
    assert next(column for column in MOVES if column.key == key).rank(row) == figure
