"""Problems found in games: which positions qualify, and their grades."""

from __future__ import annotations

from referee.rules import load
from referee.rules.position import Position
from referee.solver.mining import MinedProblem, MiningLimits, is_recapture, mine

WON_IN_THREE = "8/4bwb1/1b1bb3/2bwbw2/1wwwb3/2ww4/3b4/2w5 b - 17"
LOA = load("loa").settle()


def found(limits: MiningLimits, *moves: str, start: str = WON_IN_THREE) -> list[MinedProblem]:
    return list(mine(LOA, start, moves, limits))


def line() -> list[str]:
    (problem,) = found(MiningLimits())
    return [LOA.rules.notation.write_move(move) for move in problem.solution.line]


def test_mining_a_game_that_carries_out_the_win_keeps_its_first_position() -> None:
    problems = found(MiningLimits(), *line())
    assert [(one.ply, str(one.position), one.solution.moves) for one in problems] == [(0, WON_IN_THREE, 3)]
    (problem,) = problems
    assert (problem.solution.is_unique, problem.is_quiet, problem.tries, problem.level) == (True, True, 4, "medium")


def test_mining_leaves_out_other_lengths() -> None:
    assert not found(MiningLimits(shortest=4, longest=4))
    assert not found(MiningLimits(longest=2))
    assert [one.solution.moves for one in found(MiningLimits(shortest=2, longest=2), *line()[:2])] == [2]


def test_mining_for_unique_keys_leaves_out_problems_with_several() -> None:
    start = "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1"
    limits = MiningLimits(shortest=1)
    assert not found(MiningLimits(), start=start), "a win in one that the static score shows is no problem"
    several = [one for one in found(limits, *line()) if not one.solution.is_unique]
    assert not [one for one in found(MiningLimits(shortest=1, is_unique=True), *line()) if one in several]


def test_mining_without_nodes_finds_nothing() -> None:
    assert not found(MiningLimits(max_nodes=10))


def test_only_taking_the_piece_that_took_is_a_recapture() -> None:
    start = Position.start(LOA, "3b4/3b4/3wb1w1/2wb1bw1/1b2bw2/2wb4/4w3/2b5 b - 23")
    taken = start.play("c1f4")
    assert [taken.display(move) for move in taken.moves if is_recapture(taken, move)] == ["d6xf4"]
    quiet = start.play("d8e8")
    assert not any(is_recapture(quiet, move) for move in quiet.moves)
    assert not any(is_recapture(start, move) for move in start.moves), "no move was played before it"
