"""The order of a book and how much of each opening is played."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.game.openings import (
    OpeningSource,
    chosen_openings,
    file_openings,
    openings,
    read_book,
    read_source,
    write_opening,
)
from referee.rules import load
from referee.rules.core import ParseError

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

    def moves(seed: int, **how: object) -> list[tuple[str, ...]]:
        return [opening.moves for opening in chosen_openings(ruleset, BOOK, OpeningSource("", **how), seed)]  # type: ignore[arg-type]

    plain = [("b1b3", "h4f2"), ("c1c3", "h4f2", "b1b3"), ("d1d3",)]
    assert moves(1) == plain
    shuffled = {tuple(moves(seed, order="random")) for seed in range(20)}
    assert len(shuffled) > 1
    assert all(sorted(order) == plain for order in shuffled)
    assert moves(5, order="random") == moves(5, order="random")
    assert moves(1, plies=1) == [("b1b3",), ("c1c3",), ("d1d3",)]


@pytest.mark.parametrize(
    ("family", "source"), [("loa", "auto"), ("loa", "random:4"), ("pijersi", "setups:half-random:3")]
)
def test_an_opening_is_written_as_a_line_of_a_book(family: str, source: str) -> None:
    ruleset = load(family).settle()
    drawn = openings(ruleset, source, 3, seed=1)
    again = file_openings(ruleset, "\n".join(map(write_opening, drawn)), 3)
    assert [(one.position, one.moves) for one in again] == [(one.position, one.moves) for one in drawn]


ENDS = ("\n", "\r\n", "\r")


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("last", ["", "\n", "\r"])
def test_a_book_has_the_same_openings_whatever_ends_its_lines(end: str, last: str) -> None:
    ruleset = load("loa").settle()
    lines = ("# a comment", "", "b1b3 h4f2  # a remark", "  ", "\ufeffc1c3 h4f2 b1b3", "d1d3")
    text = "\ufeff" + end.join(lines) + last
    expected = [("b1b3", "h4f2"), ("c1c3", "h4f2", "b1b3"), ("d1d3",)]
    assert [opening.moves for opening in chosen_openings(ruleset, text, OpeningSource(""), 1)] == expected
    assert [opening.moves for opening in read_book(ruleset, text)] == expected
    assert [opening.moves for opening in file_openings(ruleset, text, 4)] == [*expected, expected[0]]


@pytest.mark.parametrize("end", ENDS)
def test_a_line_that_cannot_be_read_is_named_as_an_editor_counts_it(end: str) -> None:
    text = end.join(("# a page\x0cbreak, \x85 and \u2028", "b1b3", "", "b1b9", "d1d3"))
    with pytest.raises(ParseError, match=r"^line 4: "):
        chosen_openings(load("loa").settle(), text, OpeningSource(""), 1)


def test_lines_that_lead_to_one_position_when_cut_are_one_opening() -> None:
    ruleset = load("loa").settle()
    text = "b1b3 h4f2 c1c3 h3f1\nc1c3 h4f2 b1b3 h5f3\nd1d3\n"
    chosen = chosen_openings(ruleset, text, OpeningSource("", plies=3), 1)
    assert [opening.moves for opening in chosen] == [("b1b3", "h4f2", "c1c3"), ("d1d3",)]
    assert file_openings(ruleset, "\n".join(map(write_opening, chosen)), 2) == chosen
