"""Answers a problem: the shortest win of a side, all first moves that achieve it, and the main line.

Lengths are moves of the side that is to win, as in problems ("White to move wins in 3"). A game that ends in its favour
by a move of the other side counts as won with its next move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal

import numpy as np

from referee.rules.core import SIDES, Side
from referee.rules.invariants import limits_of
from referee.rules.per_family import loaded
from referee.rules.position import outcome_of
from referee.rules.rules import Ruleset, State
from referee.solver.condition import Condition

MAX_MOVES = 60
"""The longest win that is looked for."""
MAX_NODES = 100_000_000
"""The default number of moves played before the solver gives up."""
TABLE_BYTES = 128 << 20

Result = Literal["win", "no-win", "unknown"]


class FinishedPositionError(ValueError):
    """A position in which the game is over, so that there is nothing to solve."""


@dataclass(frozen=True, slots=True)
class WinProblem:
    """A question about a position: does `side` win within `max_moves` of its own moves?

    `side` is the side to move or the other one; in that case the defence moves first. `wants_all` also asks for the
    first moves that win later than the shortest win.
    """

    ruleset: Ruleset
    state: State
    side: Side
    max_moves: int = MAX_MOVES
    condition: Condition | None = None
    wants_all: bool = False
    max_nodes: int = MAX_NODES


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
    """Other first moves that win, with the lengths of their wins, if they were asked for."""
    defences: tuple[int, ...] = ()
    """If the other side is to move and there is no win: its moves that prevent the win."""
    line: tuple[int, ...] = ()
    """A shortest win against the longest resistance."""
    is_complete: bool = True
    nodes: int = 0

    @property
    def is_unique(self) -> bool:
        """True if a single first move is proved to achieve the shortest win."""
        return self.is_complete and len(self.keys) == 1


class _NeedsHistoryError(Exception):
    """A win by repetition or by a limit is possible, so lines of play must not share results."""


class _NodesSpentError(Exception):
    """The search has used all its nodes."""


class _Proofs:
    """Answers questions about the positions of one problem by one search and its table."""

    def __init__(self, problem: WinProblem, *, with_history: bool, nodes: int, table_bytes: int) -> None:
        rules = problem.ruleset.rules
        self.problem = problem
        self.config = problem.ruleset.config
        self.kernel = rules.kernel
        self._proof: Any = _loaded(rules.family)
        self._ps = self._proof.new_proof_state(table_bytes)
        work, proof = self._ps.work, self._proof
        self._ps.states[0] = problem.state
        work[proof.ATTACKER] = SIDES.index(problem.side)
        work[proof.ROOT_SIDE] = rules.side(problem.state, self.config)
        work[proof.LIMIT_REASONS] = sum(
            1 << place for place, reason in enumerate(rules.reasons) if reason in limits_of(rules)
        )
        work[proof.WITH_HISTORY] = with_history
        work[proof.COUNTER] = -1
        if problem.condition:
            work[proof.COUNTER] = problem.condition.index(problem.ruleset)
            work[proof.MAX_COUNT] = problem.condition.most
        work[proof.NODES] = nodes
        work[proof.NODE_LIMIT] = problem.max_nodes

    @property
    def nodes(self) -> int:
        """Moves played so far."""
        return int(self._ps.work[self._proof.NODES])

    def legal(self, line: Sequence[int]) -> list[int]:
        """Return the legal moves after a line of play."""
        self._follow(line)
        buffer = np.empty(self.kernel.MAX_MOVES, dtype=np.int64)
        found = self.kernel.legal(self._ps.states[len(line)], self.config, buffer)
        return [int(code) for code in buffer[:found]]

    def is_over(self, line: Sequence[int]) -> bool:
        """Return whether the game has ended after a line of play."""
        self._follow(line)
        return bool(self._proof.judge(self._ps, self.config, len(line)) != self._proof.OPEN)

    def attacks(self, line: Sequence[int]) -> bool:
        """Return whether the attacker is to move after a line of play."""
        work, proof = self._ps.work, self._proof
        return bool((work[proof.ROOT_SIDE] + len(line)) % 2 == work[proof.ATTACKER])

    def wins(self, line: Sequence[int], moves: int) -> bool:
        """Return whether the attacker wins within `moves` of its moves after a line of play.

        Raise _NodesSpentError or _NeedsHistoryError without an answer.
        """
        used = self._follow(line)
        rest = 2 * moves - self.attacks(line)
        if used < 0 or rest < 0:
            return False
        work, proof = self._ps.work, self._proof
        work[proof.ABORTED] = 0
        known = int(proof.prove(self._ps, self.config, len(line), rest, used))
        if work[proof.NEEDS_HISTORY] and not work[proof.WITH_HISTORY]:
            raise _NeedsHistoryError
        if known == proof.OPEN:
            raise _NodesSpentError
        return bool(known == proof.WON)

    def _follow(self, line: Sequence[int]) -> int:
        """Set up the states of a line of play; return how much of the condition it uses, -1 if it is forbidden."""
        used, states = 0, self._ps.states
        self._proof.enter_key(self._ps, 0, 0)
        for ply, move in enumerate(line):
            if self.attacks(line[:ply]) and used >= 0:
                used = int(self._proof.used_after(self._ps, self.config, ply, move, used))
            self.kernel.play(states[ply], self.config, move, states[ply + 1])
            self._proof.enter_key(self._ps, ply + 1, max(used, 0))
        return used


def _loaded(family: str) -> ModuleType:
    return loaded("referee.solver", "proof", family)


def compile_solver(ruleset: Ruleset) -> None:
    """Compile the search of a family, or load it from the cache, so that its time is not part of a measurement."""
    side = SIDES[ruleset.rules.side(ruleset.read(), ruleset.config)]
    solve(WinProblem(ruleset, ruleset.read(), side, max_nodes=1_000), table_bytes=1 << 16)


def solve(
    problem: WinProblem, report: Callable[[int, int], None] | None = None, *, table_bytes: int = TABLE_BYTES
) -> Solution:
    """Solve a problem. `report` is called with each length before it is tried, and the nodes so far.

    The answer depends on the problem and `table_bytes` alone. Raise FinishedPositionError if the game is over, and
    UnknownNameError for a condition that the family does not have.
    """
    ruleset = problem.ruleset
    code = int(ruleset.rules.kernel.result(problem.state, ruleset.config, 1, 0))
    if outcome := outcome_of(ruleset, code):
        raise FinishedPositionError(f"the game is over: {outcome.winner} ({outcome.reason}); give another position")
    nodes = 0
    for with_history in (False, True):
        proofs = _Proofs(problem, with_history=with_history, nodes=nodes, table_bytes=table_bytes)
        try:
            return _solve(problem, proofs, report)
        except _NeedsHistoryError:
            nodes = proofs.nodes
    raise AssertionError("a search with history cannot need history")


def _solve(problem: WinProblem, proofs: _Proofs, report: Callable[[int, int], None] | None) -> Solution:
    for moves in range(1, problem.max_moves + 1):
        if report:
            report(moves, proofs.nodes)
        try:
            if proofs.wins((), moves):
                return _win(problem, proofs, moves)
        except _NodesSpentError:
            return Solution("unknown", refuted=moves - 1, is_complete=False, nodes=proofs.nodes)
    return _no_win(problem, proofs)


def _win(problem: WinProblem, proofs: _Proofs, moves: int) -> Solution:
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
    except _NodesSpentError:
        is_complete = False
    return Solution("win", moves, moves - 1, tuple(keys), later, (), tuple(line), is_complete, proofs.nodes)


def _extend(line: list[int], first: int | None, proofs: _Proofs, moves: int) -> None:
    """Append the main line to `line`: `first` if there is one, then best play of a win in `moves`."""
    if first is not None:
        line.append(first)
    while not proofs.is_over(line):
        attacks = proofs.attacks(line)
        moves -= attacks
        # The attacker needs a move that still wins in time, the defender one that does not lose any sooner.
        allowed = moves if attacks else moves - 1
        found = proofs.legal(line)
        line.append(next((move for move in found if proofs.wins((*line, move), allowed) == attacks), found[0]))


def _no_win(problem: WinProblem, proofs: _Proofs) -> Solution:
    """Return the solution of a problem without a win, with the moves that prevent it if the defence moves first."""
    defences: list[int] = []
    is_complete = True
    try:
        if not proofs.attacks(()):
            defences = [move for move in proofs.legal(()) if not proofs.wins((move,), problem.max_moves)]
    except _NodesSpentError:
        is_complete = False
    return Solution(
        "no-win", refuted=problem.max_moves, defences=tuple(defences), is_complete=is_complete, nodes=proofs.nodes
    )
