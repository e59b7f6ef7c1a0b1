"""Answers a problem: the shortest win of a side, all first moves that achieve it, and the main line.

Lengths are moves of the side that is to win, as in "White to move wins in 3". A win by a move of the other side counts
as long as a win by the next move of the winning side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from referee.rules.core import SIDES
from referee.rules.position import outcome_of
from referee.rules.rules import Ruleset
from referee.solver.proofs import TABLE_BYTES, NeedsHistoryError, NodesSpentError, Proofs, WinProblem

Result = Literal["win", "no-win", "unknown"]


class FinishedPositionError(ValueError):
    """A position in which the game is over, so that there is nothing to solve."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The proved answer to a problem; moves are codes.

    `refuted` is the number of moves within which there is certainly no win. `is_complete` is False if the nodes ran out
    after the win was proved, so that `keys`, `later` or `line` may lack moves.
    """

    result: Result
    moves: int | None = None
    """The length of the shortest win, in moves of the winning side; None without a win."""
    refuted: int = 0
    keys: tuple[int, ...] = ()
    """All first moves of a shortest win, if its side is to move."""
    later: dict[int, int] = field(default_factory=dict)
    """Other first moves that win, with the lengths of their wins; only if `wants_all`."""
    defences: tuple[int, ...] = ()
    """The moves that prevent the win, if the other side is to move and there is no win."""
    line: tuple[int, ...] = ()
    """A shortest win against the longest resistance."""
    is_complete: bool = True
    nodes: int = 0

    @property
    def is_unique(self) -> bool:
        """True if a single first move is proved to achieve the shortest win."""
        return self.is_complete and len(self.keys) == 1


def compile_solver(ruleset: Ruleset) -> None:
    """Compile the search of a family, or load it from the cache, so that a later measurement excludes this time."""
    side = SIDES[ruleset.rules.side(ruleset.read(), ruleset.config)]
    solve(WinProblem(ruleset, ruleset.read(), side, max_nodes=1_000), table_bytes=1 << 16)


def solve(
    problem: WinProblem, report: Callable[[int, int], None] | None = None, *, table_bytes: int = TABLE_BYTES
) -> Solution:
    """Solve a problem. `report` is called before each length is tried, with that length and the nodes so far.

    The answer depends on the problem and `table_bytes` alone. Raise FinishedPositionError if the game is over, and
    UnknownNameError for a condition that the family does not have.
    """
    ruleset = problem.ruleset
    code = int(ruleset.rules.kernel.result(problem.state, ruleset.config, 1, 0))
    if outcome := outcome_of(ruleset, code):
        raise FinishedPositionError(f"the game is over: {outcome.winner} ({outcome.reason}); give another position")
    nodes = 0
    for with_history in (False, True):
        proofs = Proofs(problem, with_history=with_history, nodes=nodes, table_bytes=table_bytes)
        try:
            return _solve(problem, proofs, report)
        except NeedsHistoryError:
            nodes = proofs.nodes
    raise AssertionError("the search with history asked for history again")


def _solve(problem: WinProblem, proofs: Proofs, report: Callable[[int, int], None] | None) -> Solution:
    for moves in range(1, problem.max_moves + 1):
        if report:
            report(moves, proofs.nodes)
        try:
            if proofs.wins((), moves):
                return _win(problem, proofs, moves)
        except NodesSpentError:
            return Solution("unknown", refuted=moves - 1, is_complete=False, nodes=proofs.nodes)
    return _no_win(problem, proofs)


def _win(problem: WinProblem, proofs: Proofs, moves: int) -> Solution:
    """Return the solution of a problem whose shortest win has this length: keys, later wins and the main line."""
    keys: list[int] = []
    others: list[int] = []
    later: dict[int, int] = {}
    line: list[int] = []
    is_complete = True
    try:
        if proofs.attacks(()):
            for move in proofs.legal(()):
                (keys if proofs.wins((move,), moves - 1) else others).append(move)
            _extend(line, keys[0], proofs, moves - 1)
            if problem.wants_all:
                for move in others:
                    for length in range(moves + 1, problem.max_moves + 1):
                        if proofs.wins((move,), length - 1):
                            later[move] = length
                            break
        else:
            _extend(line, None, proofs, moves)
    except NodesSpentError:
        is_complete = False
    return Solution("win", moves, moves - 1, tuple(keys), later, (), tuple(line), is_complete, proofs.nodes)


def _extend(line: list[int], first: int | None, proofs: Proofs, moves: int) -> None:
    """Append the main line to `line`: `first` if given, then best play of both sides until the win in `moves`."""
    if first is not None:
        line.append(first)
    while not proofs.is_over(line):
        attacks = proofs.attacks(line)
        moves -= attacks
        # The attacker needs a move that still wins in time, the defender one that does not lose any sooner.
        allowed = moves if attacks else moves - 1
        legal = proofs.legal(line)
        line.append(next((move for move in legal if proofs.wins((*line, move), allowed) == attacks), legal[0]))


def _no_win(problem: WinProblem, proofs: Proofs) -> Solution:
    """Return the solution of a problem without a win, with the moves that prevent it if the defence moves first."""
    defences: list[int] = []
    is_complete = True
    try:
        if not proofs.attacks(()):
            defences = [move for move in proofs.legal(()) if not proofs.wins((move,), problem.max_moves)]
    except NodesSpentError:
        is_complete = False
    return Solution(
        "no-win", refuted=problem.max_moves, defences=tuple(defences), is_complete=is_complete, nodes=proofs.nodes
    )
