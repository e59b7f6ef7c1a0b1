"""A game in progress as the referee follows it: the current state and the number of occurrences of each position.

It is mutable and fast; `referee.rules.position.Position` is the immutable counterpart.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import numpy.typing as npt

from referee.rules.core import SIDES, Outcome, Side
from referee.rules.position import Position, outcome_of
from referee.rules.repetition import History
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
        self._config = ruleset.config
        self._spare: State = np.empty_like(self.state)
        self._buffer: npt.NDArray[np.int64] = np.empty(self._kernel.MAX_MOVES, dtype=np.int64)
        self._moves = memoryview(self._buffer)  # type: ignore[arg-type]
        """The same, quicker to look into."""
        self._key_size = self._kernel.KEY_SIZE
        self._history = History()
        self.outcome: Outcome | None = self._judge()

    @property
    def plies(self) -> int:
        """The number of moves played."""
        return len(self.codes)

    def _judge(self) -> Outcome | None:
        times, gap = self._history.add(self.state[: self._key_size].tobytes())
        code = int(self._kernel.result(self.state, self._config, times, gap))
        return outcome_of(self.ruleset, code) if code else None

    @property
    def side(self) -> Side:
        """The side to move."""
        return SIDES[self.ruleset.rules.side(self.state, self._config)]

    def legal(self) -> npt.NDArray[np.int64]:
        """Return the legal moves as ascending codes: a view that the next call overwrites."""
        return self._buffer[: self._kernel.legal(self.state, self._config, self._buffer)]

    def is_legal(self, move: int) -> bool:
        """Return whether the game is undecided and a code is among its legal moves."""
        if self.outcome is not None:
            return False
        count = self._kernel.legal(self.state, self._config, self._buffer)
        # Kernels list moves in ascending order.
        place = bisect_left(self._moves, move, 0, count)
        return place < count and self._moves[place] == move

    def push(self, move: int) -> None:
        """Play a legal move."""
        self._kernel.play(self.state, self._config, move, self._spare)
        # The two arrays take turns, so that a game allocates nothing at each ply.
        self.state, self._spare = self._spare, self.state
        self.codes.append(move)
        self.outcome = self._judge()

    def position(self) -> Position:
        """Return the current position without its history."""
        return Position(self.ruleset, self.state.copy())
