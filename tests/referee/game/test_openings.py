"""Openings: random ones, books and set-ups, always the same for a seed."""

from __future__ import annotations

import pytest

from referee.game.openings import openings, random_openings
from referee.rules import load
from referee.rules.core import ParseError
from referee.rules.position import Position

RULES = load("loa").settle()


def test_random_openings_are_playable_different_and_stable() -> None:
    drawn = random_openings(RULES, 4, 30, seed=9)
    assert drawn == random_openings(RULES, 4, 30, seed=9)
    assert drawn[:10] == random_openings(RULES, 4, 10, seed=9)
    assert drawn != random_openings(RULES, 4, 30, seed=10)
    assert len({opening.moves for opening in drawn}) == 30
    for opening in drawn:
        position = Position.start(RULES).play_all(opening.moves)
        assert position.outcome is None
        assert all(position.play(move).outcome is None for move in position.moves)


def test_openings_from_a_file() -> None:
    start = "1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1 b - 1"
    text = f"# two ways to write one\nb1b3 h4f2\n{start} ; b1-b3 h4f2 c1c3  # dash\n"
    one, two = openings(RULES, "file", 2, 0, text)
    assert one.moves == ("b1b3", "h4f2")
    assert two.moves == (*one.moves, "c1c3")
    assert two.position is not None
    assert [opening.moves for opening in openings(RULES, "file", 3, 0, text)] == [one.moves, two.moves, one.moves]


@pytest.mark.parametrize(
    "text", ["b1b3 b1b3", "xyz", "8/8/8/8/8/8/8/bb5w b - 1", "", "# nothing", "b1b3\nq9q9"], ids=repr
)
def test_bad_opening_files_are_refused_with_the_line(text: str) -> None:
    with pytest.raises(ParseError, match=r"line \d|no opening"):
        openings(RULES, "file", 2, 0, text)


@pytest.mark.parametrize("source", ["random", "random:x:1", "random:99", "auto:1", "setups:standard:y", "book"])
def test_unknown_sources_are_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"openings|no set-ups"):
        openings(RULES, source, 2, 0)


@pytest.mark.parametrize("variant", ["pijersi-8100", "pijersi-24#random/random", "half-random"])
@pytest.mark.parametrize("swap_phase", [0, 1])
def test_drawn_set_ups_start_with_the_swap_phase_when_there_is_one(variant: str, swap_phase: int) -> None:
    ruleset = load("pijersi").settle(None, {"swap_phase": swap_phase})
    drawn = openings(ruleset, f"setups:{variant}:7", 5, 0)
    assert drawn == openings(ruleset, f"setups:{variant}:7", 5, 1)
    starts = set()
    for opening in drawn:
        settled = ruleset.rules.settle(opening.variant, {**ruleset.overrides, **dict(opening.options)})
        start = str(Position.start(settled, opening.position))
        assert start.endswith(" swap") == bool(swap_phase)
        starts.add(start)
    assert len(starts) == 5
