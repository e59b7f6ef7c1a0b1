"""The proofs about one problem: does a side win within a number of its moves after some line of play?

A condition limits a count over all moves of the winning side, such as the marbles moved.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from referee.rules.core import SIDES, ParseError, Side, UnknownNameError
from referee.rules.invariants import limits_of
from referee.rules.kernel_protocol import Counters
from referee.rules.per_family import loaded
from referee.rules.rules import Ruleset, State

MAX_COUNT = 10_000


@dataclass(frozen=True, slots=True)
class Condition:
    """The limit `most` on a counter of the family (`referee.rules.kernel_protocol.Counters`), written `marbles<=7`."""

    counter: str
    most: int

    @classmethod
    def read(cls, text: str) -> Condition:
        """Parse a condition. Raise ParseError."""
        found = re.fullmatch(r"\s*([a-z_]+)\s*<=\s*([0-9]{1,5})\s*", text)
        if found is None or int(found[2]) > MAX_COUNT:
            raise ParseError(
                "invalid condition", text=text, hint=f"expected COUNTER<=NUMBER, at most {MAX_COUNT}, as in marbles<=7"
            )
        return cls(found[1], int(found[2]))

    def index(self, ruleset: Ruleset) -> int:
        """Return the index of the counter in `COUNTERS` of the family's kernel. Raise UnknownNameError."""
        rules = ruleset.rules
        known = cast(Counters, rules.kernel).COUNTERS if hasattr(rules.kernel, "COUNTERS") else ()
        if self.counter not in known:
            raise UnknownNameError(f"condition of {rules.family}", self.counter, tuple(known))
        return known.index(self.counter)

    def __str__(self) -> str:
        return f"{self.counter}<={self.most}"


MAX_MOVES = 60
"""The longest win that is looked for."""
MAX_NODES = 100_000_000
"""The default number of moves played before the solver gives up."""
TABLE_BYTES = 128 << 20


@dataclass(frozen=True, slots=True)
class WinProblem:
    """A question about a position: does `side` win within `max_moves` of its own moves?

    `side` may also be the side that is not to move: then the defence moves first. `wants_all` also asks for the first
    moves that win, but later than the shortest win.
    """

    ruleset: Ruleset
    state: State
    side: Side
    max_moves: int = MAX_MOVES
    condition: Condition | None = None
    wants_all: bool = False
    max_nodes: int = MAX_NODES


class NeedsHistoryError(Exception):
    """The finding that a win by repetition or by a limit is possible, so that lines of play must not share results."""


class NodesSpentError(Exception):
    """The end of a search that has used all its nodes."""


class Proofs:
    """Answers questions about the positions of one problem, with a transposition table that all answers share."""

    def __init__(self, problem: WinProblem, *, with_history: bool, nodes: int, table_bytes: int) -> None:
        rules = problem.ruleset.rules
        self.problem = problem
        self.config = problem.ruleset.config
        self.kernel = rules.kernel
        self._proof: Any = loaded("referee.solver", "proof_search", rules.family)
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
        """Number of moves that the search has played so far."""
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

        Raise NodesSpentError or NeedsHistoryError if there is no answer.
        """
        used = self._follow(line)
        rest = 2 * moves - self.attacks(line)
        if used < 0 or rest < 0:
            return False
        work, proof = self._ps.work, self._proof
        work[proof.ABORTED] = 0
        known = int(proof.prove(self._ps, self.config, len(line), rest, used))
        if work[proof.NEEDS_HISTORY] and not work[proof.WITH_HISTORY]:
            raise NeedsHistoryError
        if known == proof.OPEN:
            raise NodesSpentError
        return bool(known == proof.WON)

    def _follow(self, line: Sequence[int]) -> int:
        """Set up the states of a line of play; return how much the attacker's moves in it count towards the limit of
        the problem's condition, -1 if they exceed it.
        """
        used, states = 0, self._ps.states
        self._proof.enter_key(self._ps, 0, 0)
        for ply, move in enumerate(line):
            if self.attacks(line[:ply]) and used >= 0:
                used = int(self._proof.used_after(self._ps, self.config, ply, move, used))
            self.kernel.play(states[ply], self.config, move, states[ply + 1])
            self._proof.enter_key(self._ps, ply + 1, max(used, 0))
        return used
