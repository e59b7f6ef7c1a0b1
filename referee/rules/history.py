"""A game in progress as the referee follows it: the current state and the number of occurrences of each position.

It is mutable and fast; `referee.rules.position.Position` is the immutable counterpart.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from referee.rules.core import SIDES, Outcome, Side
from referee.rules.per_family import loaded_for
from referee.rules.position import History, Position, outcome_of
from referee.rules.rules import Ruleset, State


class LineOfPlay:
    """A game being played: `push` moves, read `outcome`, `side` and `state`."""

    def __init__(self, ruleset: Ruleset, position: str | State | None = None) -> None:
        rules = ruleset.rules
        self.ruleset = ruleset
        self.state: State = position.copy() if isinstance(position, np.ndarray) else ruleset.read(position)
        self.start = self.state.copy()
        self.codes: list[int] = []
        """The moves that led here."""
        self._kernel = rules.kernel
        self._advance = loaded_for(__package__, "ply", rules).advance
        self._config = ruleset.config
        self._spare: State = np.empty_like(self.state)
        self._buffer: npt.NDArray[np.int64] = np.empty(self._kernel.MAX_MOVES, dtype=np.int64)
        size = self._kernel.KEY_SIZE
        self._key, self._spare_key = self.state[:size], self._spare[:size]
        self._history = History((self._key.tobytes(),))
        code = int(self._kernel.result(self.state, self._config, 1, 0))
        self.outcome: Outcome | None = outcome_of(ruleset, code)

    @property
    def plies(self) -> int:
        return len(self.codes)

    @property
    def side(self) -> Side:
        return SIDES[self.ruleset.rules.side(self.state, self._config)]

    def legal(self) -> npt.NDArray[np.int64]:
        """Return the legal moves as ascending codes: a view that the next call overwrites."""
        return self._buffer[: self._kernel.legal(self.state, self._config, self._buffer)]

    def push(self, move: int) -> bool:
        """Play a move if the game is undecided and the move is legal; return whether it was played."""
        if self.outcome is not None:
            return False
        spare = self._spare
        code = self._advance(self.state, self._config, move, self._buffer, spare)
        if code < 0:
            return False
        # The two arrays take turns, so that a game allocates nothing at each ply.
        self.state, self._spare = spare, self.state
        self._key, self._spare_key = self._spare_key, self._key
        self.codes.append(move)
        times, gap = self._history.add(self._key.tobytes())
        if times > 1:
            code = self._kernel.result(spare, self._config, times, gap)
        if code:
            self.outcome = outcome_of(self.ruleset, int(code))
        return True

    def position(self) -> Position:
        """Return the current position without its history."""
        return Position(self.ruleset, self.state.copy())
