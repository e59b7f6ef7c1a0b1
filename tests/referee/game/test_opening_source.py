"""The order of a book and how much of each opening is played."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.game.opening_source import OpeningSource, read_source
from referee.game.openings import chosen_openings
from referee.rules import load

BOOK = "b1b3 h4f2\nc1c3 h4f2 b1b3\nd1d3\n"


def test_settings_stand_behind_a_file(tmp_path: Path) -> None:
    file = str(tmp_path / "book.txt")
    Path(file).write_text(BOOK, encoding="utf-8")
    assert read_source(f"{file};order=random;plies=8") == OpeningSource(file, "random", 8)
    assert read_source("random:4:1") == OpeningSource("random:4:1")
    for text in (f"{file};order=by-name", f"{file};plies=0", f"{file};colour=1", "random:4:1;order=random"):
        with pytest.raises(ValueError, match=r"--openings: .*order"):
            read_source(text)


def test_a_book_is_played_in_order_or_shuffled_by_the_seed_and_cut() -> None:
    ruleset = load("loa").settle()

    def moves(count: int, seed: int, **how: object) -> list[tuple[str, ...]]:
        return [one.moves for one in chosen_openings(ruleset, BOOK, count, OpeningSource("", **how), seed)]  # type: ignore[arg-type]

    plain = [("b1b3", "h4f2"), ("c1c3", "h4f2", "b1b3"), ("d1d3",)]
    assert moves(4, 1) == [*plain, plain[0]]
    shuffled = {tuple(moves(3, seed, order="random")) for seed in range(20)}
    assert len(shuffled) > 1
    assert all(sorted(order) == plain for order in shuffled)
    assert moves(3, 5, order="random") == moves(3, 5, order="random")
    assert moves(3, 1, plies=1) == [("b1b3",), ("c1c3",), ("d1d3",)]
