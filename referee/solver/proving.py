"""Proves a problem that a user has submitted: its length, its grade and the tree of its solutions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from referee.rules import load
from referee.rules.core import SIDES
from referee.rules.position import Position
from referee.solver.condition import Condition
from referee.solver.mining import grade
from referee.solver.proofs import WinProblem
from referee.solver.solver import solve
from referee.solver.tree import Tree, solution_tree

MAX_NODES = 40_000_000
"""Limit of the moves that the solver plays for a problem, which takes about ten seconds."""
TABLE_BYTES = 64 << 20


class UnprovedProblemError(ValueError):
    """A problem without a proved win within its limits."""


@dataclass(frozen=True, slots=True)
class ProblemStatement:
    """The claim of a problem: in `position` the side to move wins within `max_moves` of its moves."""

    family: str
    variant: str
    options: Mapping[str, Any]
    position: str
    max_moves: int
    condition: str = ""


@dataclass(frozen=True, slots=True)
class ProvedProblem:
    """The solution and the grade of a problem (see `MinedProblem`); `moves` is the length of its shortest win."""

    moves: int
    is_unique: bool
    is_quiet: bool
    tries: int
    level: str
    tree: Tree


def prove(statement: ProblemStatement, max_nodes: int = MAX_NODES) -> ProvedProblem:
    """Prove the claim of a problem.

    Raise UnprovedProblemError if the claim is wrong or remains unproved; ValueError for a position or condition that
    the rules reject; TooManySolutionsError.
    """
    ruleset = load(statement.family).settle(statement.variant, statement.options)
    state = ruleset.read(statement.position)
    side = SIDES[ruleset.rules.side(state, ruleset.config)]
    limit = Condition.read(statement.condition) if statement.condition else None
    problem = WinProblem(ruleset, state, side, statement.max_moves, limit, max_nodes=max_nodes)
    solution = solve(problem, table_bytes=TABLE_BYTES)
    if solution.moves is None or not solution.is_complete:
        known = f"there is no win in {solution.refuted}" if solution.refuted else "nothing is proved"
        spent = "" if solution.result == "no-win" else f" within {max_nodes:,} moves of search"
        raise UnprovedProblemError(f"{known}{spent}")
    graded = grade(Position(ruleset, state), solution)
    return ProvedProblem(
        solution.moves,
        solution.is_unique,
        graded.is_quiet,
        graded.tries,
        graded.level,
        solution_tree(problem, solution.moves),
    )
