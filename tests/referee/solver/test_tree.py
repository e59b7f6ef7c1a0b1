"""The tree of a problem's solutions: every line in it wins in time, and nothing that wins is missing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from referee.rules import load
from referee.rules.core import SIDES
from referee.rules.position import Position
from referee.solver import tree as module
from referee.solver.mining import ProblemStatement, UnprovedProblemError, prove
from referee.solver.proofs import WinProblem
from referee.solver.solver import solve
from referee.solver.tree import TooManySolutionsError, Tree, main_line, solution_tree, tree_text

IN_THREE = "8/4bwb1/1b1bb3/2bwbw2/1wwwb3/2ww4/3b4/2w5 b - 17"
IN_ONE = "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1"


def problem_of(position: str, moves: int) -> WinProblem:
    ruleset = load("loa").settle()
    state = ruleset.read(position)
    return WinProblem(ruleset, state, SIDES[ruleset.rules.side(state, ruleset.config)], moves)


def lines(tree: Tree) -> Iterator[tuple[str, ...]]:
    for move, rest in tree.items():
        yield from ((move, *line) for line in lines(rest)) if rest else [(move,)]


def test_every_line_of_the_tree_ends_with_the_win_in_time() -> None:
    problem = problem_of(IN_THREE, 3)
    tree = solution_tree(problem, 3)
    branches = list(lines(tree))
    assert len(branches) > 1
    for line in branches:
        end = Position.start(problem.ruleset, IN_THREE).play_all(line)
        assert end.outcome is not None, line
        assert end.outcome.winner == "first", line
        assert len(line) <= 5, line


def test_the_tree_has_all_winning_moves_and_the_longest_defences() -> None:
    problem = problem_of(IN_THREE, 3)
    tree = solution_tree(problem, 3)
    keys = solve(problem).keys
    write = problem.ruleset.rules.notation.write_move
    assert list(tree) == [write(key) for key in keys] == ["d2f4"]
    for reply, rest in tree["d2f4"].items():
        after = Position.start(problem.ruleset, IN_THREE).play_all(["d2f4", reply])
        solution = solve(problem_of(str(after), 2))
        assert solution.moves == 2  # a defence that loses no sooner
        assert sorted(rest) == sorted(write(key) for key in solution.keys)


def test_the_text_of_a_tree_has_other_moves_in_parentheses() -> None:
    problem = problem_of(IN_ONE, 1)
    tree = solution_tree(problem, 1)
    assert tree == {"d2c3": {}, "d2d4": {}}
    assert tree_text(Position.start(problem.ruleset, IN_ONE), tree) == "1. d2-c3 (1. d2-d4)"
    assert main_line(tree) == ["d2c3"]


def test_a_tree_with_too_many_moves_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TREE_MOVES", 1)
    with pytest.raises(TooManySolutionsError, match="too many solutions"):
        solution_tree(problem_of(IN_ONE, 1), 1)


def test_a_proved_problem_has_length_grade_and_tree() -> None:
    found = prove(ProblemStatement("loa", "standard", {}, IN_THREE, 5))
    assert (found.moves, found.is_unique, found.is_quiet, found.level) == (3, True, True, "medium")
    assert found.tries == 4
    assert list(found.tree) == ["d2f4"]


@pytest.mark.parametrize(
    ("max_moves", "nodes", "problem"),
    [(2, 10**7, "there is no win in 2"), (5, 50, "there is no win in 1 within 50 moves of search")],
)
def test_a_problem_without_a_proof_is_refused_with_the_reason(max_moves: int, nodes: int, problem: str) -> None:
    with pytest.raises(UnprovedProblemError, match=problem):
        prove(ProblemStatement("loa", "standard", {}, IN_THREE, max_moves), nodes)


def test_a_condition_that_the_family_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="condition of loa"):
        prove(ProblemStatement("loa", "standard", {}, IN_THREE, 3, "marbles<=7"))
