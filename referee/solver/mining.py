"""Finds, proves and grades problems: positions with a short forced win whose first move is not obvious.

A position of a game qualifies if the side to move wins, the length of the win is within the limits, and the main line
does not begin with a recapture of the piece that has just captured. If the same win is possible in several positions of
a game, only the first of them is kept. Of a problem that a user has submitted, the length, the grade and the tree of
solutions are proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from referee.rules import load
from referee.rules.core import SIDES
from referee.rules.position import Position
from referee.rules.rules import Ruleset
from referee.solver.proofs import Condition, WinProblem
from referee.solver.solver import Solution, solve
from referee.solver.tree import Tree, solution_tree

Level = Literal["easy", "medium", "hard"]

TABLE_BYTES = 8 << 20
MAX_NODES = 1_000_000
"""The default number of moves played for one position. All positions of a game are searched, and few have a short win,
so this and the table are small.
"""
MAX_PROOF_NODES = 40_000_000
"""Limit of the moves that the solver plays for a problem, which takes about ten seconds."""
PROOF_TABLE_BYTES = 64 << 20
"""A problem is searched alone and forty times as long, so its table is larger."""
WIN_IN_ONE = 10_000
"""Static scores from here on are wins in one move (see `Kernel.evaluate`)."""
_MANY_TRIES = 8
"""Plausible wrong moves from which a problem gets another point of difficulty."""
_MEDIUM, _HARD = 3, 5
"""Points from which a problem is medium, and from which it is hard."""


@dataclass(frozen=True, slots=True)
class MiningLimits:
    """The problems to look for: their lengths in moves of the winning side, and the limit of nodes for one position."""

    shortest: int = 2
    longest: int = 5
    is_unique: bool = False
    max_nodes: int = MAX_NODES


@dataclass(frozen=True, slots=True)
class MinedProblem:
    """A position of a game with its solution and grade.

    `tries` counts the plausible wrong moves: first moves that do not win in time although the static score after them
    is at least that after the key, the move that wins. `is_quiet` says that the key captures nothing.
    """

    ply: int
    """The number of moves played before the position."""
    position: Position
    solution: Solution
    is_quiet: bool
    tries: int

    @property
    def level(self) -> Level:
        """The grade, from the length, the plausible wrong moves and whether the key captures."""
        points = (self.solution.moves or 0) - 1 + self.is_quiet + (self.tries > 0) + (self.tries >= _MANY_TRIES)
        return "easy" if points < _MEDIUM else "medium" if points < _HARD else "hard"


def mine(ruleset: Ruleset, start: str | None, moves: Sequence[str], limits: MiningLimits) -> Iterator[MinedProblem]:
    """Yield the problems of a game in order of play. Raise ParseError or IllegalMoveError for an impossible game."""
    line = [Position.start(ruleset, start)]
    for move in moves:
        line.append(line[-1].play(move))
    known = {"first": 0, "second": 0}
    for ply, position in enumerate(line):
        if position.outcome is not None:
            break
        before = known[position.side]
        known[position.side] = 0
        # A win in one move is too easy for a problem.
        if int(position.ruleset.rules.kernel.evaluate(position.state, position.ruleset.config)) >= WIN_IN_ONE:
            continue
        # Parse the position from its text, which drops the moves before it: a problem has none.
        state = ruleset.read(str(position))
        problem = WinProblem(ruleset, state, position.side, limits.longest, max_nodes=limits.max_nodes)
        solution = solve(problem, table_bytes=TABLE_BYTES)
        if solution.moves is None:
            continue
        known[position.side] = solution.moves
        is_known = 0 < solution.moves <= before
        if is_known or solution.moves < limits.shortest or (limits.is_unique and not solution.is_unique):
            continue
        if solution.keys and not is_recapture(position, solution.keys[0]):
            yield grade(Position(ruleset, state), solution, ply)


def grade(position: Position, solution: Solution, ply: int = 0) -> MinedProblem:
    """Grade a position in which the side to move wins, reached after `ply` moves of a game."""
    return MinedProblem(ply, position, solution, not _captures(position, solution.keys[0]), _tries(position, solution))


def _pieces(position: Position) -> int:
    return sum(map(len, position.board.pieces.values()))


def _captures(position: Position, move: int) -> bool:
    return _pieces(position.play(move)) < _pieces(position)


def is_recapture(position: Position, key: int) -> bool:
    """Return whether `key` captures a piece that has just captured, which is too obvious for a problem."""
    previous = position.previous
    if previous is None or position.move is None or _pieces(position) == _pieces(previous):
        return False
    moved = {cell for cell, symbols in position.board.pieces.items() if previous.board.pieces.get(cell) != symbols}
    then = position.play(key).board.pieces
    return _captures(position, key) and any(then.get(cell) != position.board.pieces[cell] for cell in moved)


def _tries(position: Position, solution: Solution) -> int:
    """Return the number of moves that do not win in time but look at least as good as the best key."""
    kernel, config = position.ruleset.rules.kernel, position.ruleset.config
    scores = {move: -int(kernel.evaluate(position.play(move).state, config)) for move in position.moves}
    best = max(scores[key] for key in solution.keys)
    return sum(score >= best for move, score in scores.items() if move not in solution.keys)


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


def prove(statement: ProblemStatement, max_nodes: int = MAX_PROOF_NODES) -> ProvedProblem:
    """Prove the claim of a problem.

    Raise UnprovedProblemError if the claim is wrong or remains unproved; ValueError for a position or condition that
    the rules reject; TooManySolutionsError.
    """
    ruleset = load(statement.family).settle(statement.variant, statement.options)
    state = ruleset.read(statement.position)
    side = SIDES[ruleset.rules.side(state, ruleset.config)]
    limit = Condition.read(statement.condition) if statement.condition else None
    problem = WinProblem(ruleset, state, side, statement.max_moves, limit, max_nodes=max_nodes)
    solution = solve(problem, table_bytes=PROOF_TABLE_BYTES)
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
