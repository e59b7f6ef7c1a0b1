"""The compiled functions of a family, those that every kernel has and groups of optional ones, and their arrays."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

State: TypeAlias = npt.NDArray[Any]
"""One position as a 1-D array whose length and dtype the family chooses. Its first `KEY_SIZE` elements are what
repetition compares: board, side to move, rights. The counters (plies, quiet plies, move number) follow.
"""

States: TypeAlias = npt.NDArray[Any]
"""Several positions as a 2-D array, one state per row."""

Config: TypeAlias = npt.NDArray[np.int64]
"""The rule options of a game as int64: the values of `Rules.options` in order, then the variant's `params`. A combo is
stored as its index into `values`, a check as 0 or 1, a spin as its number.
"""


class Kernel(Protocol):
    """The compiled functions of a family: a module `referee/rules/<family>/kernel.py` with exactly these names.

    Every function is decorated with `referee.rules.jit.jit`. No function allocates a growing structure or keeps state.
    """

    STATE_SIZE: int
    KEY_SIZE: int
    DTYPE: type[np.generic]
    MAX_MOVES: int

    def legal(self, state: State, config: Config, moves: npt.NDArray[np.int64]) -> int:
        """Write the legal moves as ascending codes into `moves` (length MAX_MOVES); return their number.

        The number is 0 when board and side to move decide the game; history and limits do not count. Raise
        OverflowError rather than write past the buffer.
        """

    def count(self, state: State, config: Config) -> int:
        """Return the number of legal moves, counted in bulk without listing where that is faster."""

    def play(self, state: State, config: Config, move: int, out: State) -> None:
        """Write the position after `move` (trusted to be legal) to `out`, which must not be `state`."""

    def result(self, state: State, config: Config, occurrences: int, gap: int) -> int:
        """Return 0 while the game is undecided, else `reason * 4 + winner`.

        `winner` is 1 for the first side, 2 for the second, 3 for a draw; `reason` is an index into `Rules.reasons`.
        `occurrences` counts this position's occurrences in the game, this one included; `gap` is the number of plies
        since the previous one (0 = no previous one). All tests, limits and repetition included, run in the order of the
        family's rules.
        """

    def playout(self, state: State, config: Config, rng: npt.NDArray[np.uint64], max_plies: int) -> tuple[int, int]:
        """Play uniformly random moves up to the end of the game or `max_plies`; return (result code or 0, plies
        played).

        Repetition is ignored. `rng` is a uint64 array of one element, advanced in place.
        """

    def evaluate(self, state: State, config: Config) -> int:
        """Return a static score for the side to move, roughly in centipawns (1/100 of a piece), |score| < 20,000.

        In an undecided game a score of 10,000 or more means that the side to move can win with its next move.
        """


class Tactics(Protocol):
    """Optional functions of a kernel for quiescence search, present all together or not at all.

    They take piece values in 1/100 of a piece, which are fitted to games.
    """

    PIECE_VALUES: npt.NDArray[np.int64]
    """The values used before any were fitted."""
    VALUE_GROUPS: npt.NDArray[np.int64]
    """The group number of each value: the values of a group are fitted as one common multiple of these."""

    def captures(
        self,
        state: State,
        config: Config,
        values: npt.NDArray[np.int64],
        moves: npt.NDArray[np.int64],
        gains: npt.NDArray[np.int64],
    ) -> int:
        """Write the legal moves that capture into `moves` and the value of what each captures into `gains`.

        Return their number. Both arrays have length MAX_MOVES.
        """

    def quiet_eval(self, state: State, config: Config, values: npt.NDArray[np.int64]) -> int:
        """Return a static score for the side to move that ignores possible captures, which the search tries itself.

        The score is linear in the piece values: each is multiplied by a number that the position gives.
        """

    def in_check(self, state: State, config: Config) -> bool:
        """Return whether the side to move must answer a threat, so that it may neither pass nor be scored by
        `quiet_eval`.
        """


class Counters(Protocol):
    """Optional functions of a kernel for problems with a condition (`marbles<=7`), present together or not at all."""

    COUNTERS: tuple[str, ...]
    """What can be counted over the moves of one side: the words of conditions."""

    def counted(self, state: State, config: Config, move: int, counter: int) -> int:
        """Return by how much a legal move raises `COUNTERS[counter]`; never less than 0."""


class Prospects(Protocol):
    """An optional function of a kernel that lets the solver pass over positions without a win."""

    def may_win(self, state: State, config: Config, moves: int) -> bool:
        """Return False only if the side to move cannot force a win within `moves` (at least 1) of its moves.

        Wins of every kind count, those by repetition and by a limit included. The answer should take far less time than
        listing the moves. With `moves` of 1 it should be exact in most positions.
        """


class LinearFeatures(Protocol):
    """Optional functions of a kernel for a learned linear evaluation, present all together or not at all.

    The score of a position is the sum of the weights of its features. The functions are used only with rules
    that `Features.fits` accepts.
    """

    LINEAR_FEATURE_COUNT: int
    """The number of features."""
    MAX_LINEAR_FEATURES: int
    """The largest number of features in one position."""
    TIED_FEATURES: npt.NDArray[np.int64]
    """For each feature the one whose weight it shares: the smallest number among its images under the board's
    symmetries.
    """
    PRIOR_WEIGHTS: npt.NDArray[np.float64]
    """The weight of each feature before any were fitted, in centipawns (1/100 of a piece)."""

    def linear_features(self, state: State, config: Config, found: npt.NDArray[np.int64]) -> int:
        """Write the numbers of a position's features, as the side to move sees it, to `found`; return how many there
        are.

        Return -1 if the side to move can win with its next move. The game must be undecided in the position.
        """
