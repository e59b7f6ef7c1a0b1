"""A line of play counts the occurrences of a position and the plies since the last one."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from referee.rules import load
from referee.rules.core import Outcome, Termination
from referee.rules.history import LineOfPlay
from referee.rules.rules import Ruleset

LOA = load("loa")
TOUR = ("b1b3", "h5f5", "b3b1", "f5h5")


class Witness:
    """A kernel that records the arguments of `result` by ply: the occurrence, and the plies since the last one."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self.asked: dict[int, tuple[int, int]] = {}
        self.ply = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    def result(self, state: Any, config: Any, occurrence: int, gap: int) -> int:
        self.asked[self.ply] = occurrence, gap
        return int(self._kernel.result(state, config, occurrence, gap))


def play(line: LineOfPlay, *moves: str) -> list[Outcome | None]:
    """Push moves; return the outcome after each."""
    outcomes = []
    for text in moves:
        move = line.position().read(text)
        assert line.push(move)
        outcomes.append(line.outcome)
    return outcomes


def asked(*moves: str) -> list[tuple[int, int]]:
    """Return the arguments of `result` for the start and for the position after each move.

    Python asks it about repeated positions only: it is part of the compiled ply for the others, as (1, 0).
    """
    settled = LOA.settle(options={"repetition": 0})
    plain = LineOfPlay(settled)
    play(plain, *moves)
    witness, rules = Witness(LOA.kernel), dataclasses.replace(LOA)
    vars(rules)["kernel"] = witness
    line = LineOfPlay(Ruleset(rules, settled.variant, settled.values))
    for witness.ply, code in enumerate(plain.codes, 1):
        line.push(code)
    assert line.plies == len(moves)
    return [witness.asked.get(ply, (1, 0)) for ply in range(len(moves) + 1)]


def test_every_occurrence_is_counted_with_the_plies_since_the_last_one() -> None:
    assert asked(*TOUR, *TOUR, "b1b3") == [(1, 0)] * 4 + [(2, 4)] * 4 + [(3, 4)] * 2


def test_the_gap_is_to_the_last_occurrence_not_to_the_first() -> None:
    detour = ("b1b3", "h4f4", "b3b1", "f4h4")
    other = ("c1c3", "h5f5", "c3c1", "f5h5")
    found = asked(*TOUR, *detour, *other, *TOUR)
    assert [found[ply] for ply in (4, 8, 12, 16)] == [(2, 4), (3, 4), (4, 4), (5, 4)], "the start"
    assert [found[ply] for ply in (1, 5, 13)] == [(1, 0), (2, 4), (3, 8)], "after b1b3"
    assert [found[ply] for ply in (3, 11, 15)] == [(1, 0), (2, 8), (3, 4)], "before f5h5"


@pytest.mark.parametrize(("repetition", "last"), [(2, 4), (3, 8), (4, 12)])
def test_game_ends_at_the_first_position_that_occurs_often_enough(repetition: int, last: int) -> None:
    line = LineOfPlay(LOA.settle(options={"repetition": repetition}))
    found = play(line, *(TOUR * 4)[:last])
    assert found == [None] * (last - 1) + [Outcome("draw", Termination.REPETITION)]
    assert not line.push(line.position().read("b1b3")), "the game is over"
    assert line.plies == last


def test_line_of_play_reports_legality_and_its_position() -> None:
    ruleset = LOA.settle()
    line = LineOfPlay(ruleset)
    codes = line.legal().tolist()
    assert codes == sorted(codes) == list(line.position().moves)
    assert all(LineOfPlay(ruleset).push(code) for code in codes)
    before = line.state.copy()
    assert not line.push(codes[-1] + 1)
    assert not line.push(max(set(range(codes[0], codes[-1])) - set(codes)))
    assert (line.state == before).all()
    move = codes[0]
    line.push(move)
    assert line.codes == [move]
    assert (line.start == before).all()
    assert line.side == "second"
    assert str(line.position()) == str(LineOfPlay(ruleset, str(line.position())).position())


def test_a_move_that_was_legal_before_is_refused() -> None:
    """The buffer of moves still holds it, after the last one that is legal now."""
    line, refused = LineOfPlay(LOA.settle()), 0
    for _ in range(40):
        former = line.legal().tolist()
        line.push(former[len(former) // 3])
        if line.outcome:
            break
        for move in set(former) - set(line.legal().tolist()):
            assert not line.push(move)
            refused += 1
    assert refused > 40
