"""The state of an alpha-beta search: its arrays, the scale of its scores, and when it must stop.

Several threads may search the same position with one transposition table (lazy SMP), each with a state of its own
(`new_helper_state`, `copy_root`).

ply 0     the root: states[0], game_keys[work[ROOT_INDEX]]
ply p     states[p]; game_keys[work[ROOT_INDEX] + p] is the digest that repetitions compare, keys[p] that of the
          whole state; plies[p] holds the legal moves (the hash move first, the others ascending), their ranks and
          the static scores of the positions after them, all in the same order
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from referee.rules.jit import borrowing

ZERO: Any = np.int64(0)
ONCE: Any = np.int64(1)
TRUE: Any = np.bool_(True)
"""Numbers as arguments: for a bare 0 numba would compile a version of the function for 0 alone, and a recursive
function that is entered by such a version does not survive the disk cache.
"""

MAX_DEPTH = 60
"""Greatest depth of a search, in plies."""
WIN_IN_ONE = 10_000
"""Static scores from here on mean that the side to move wins with this move (see `Kernel.evaluate`)."""
WIN = 30_000
"""Score of a win at the root. A win in n plies is WIN - n. Static scores stay far below."""
PROVEN_WIN = WIN - 1_000
"""Scores beyond are proven wins or losses: a search is far less than 1,000 plies deep, and static scores are lower."""
INFINITY = 1_000_000
UNKNOWN: Any = np.int64(-1 << 62)
"""In place of a static score that was not computed yet."""
TERMINAL: Any = np.int64(1 << 32)
"""In place of the static score of a finished game: TERMINAL + its result code."""
RANK_SHIFT: Any = np.int64(20)
INDEX_MASK: Any = np.int64((1 << 20) - 1)
"""Ranks are stored as rank << RANK_SHIFT | INDEX_MASK - index in the row: the highest is the best, the first among
equals.
"""

NODES, NODE_LIMIT, STOP, ABORTED, BEST_MOVE, SCORE, ROOT_INDEX, ROOT_SIDE, GENERATION, CONTEMPT, ITERATION = range(11)
AGE, NOISE, SEED = 11, 12, 13
"""Indices of `work`. NODES, NODE_LIMIT; STOP is set by another thread to end the search, ABORTED says that it ended
early. BEST_MOVE and SCORE are the result at the root, ROOT_INDEX its index in `game_keys`, ROOT_SIDE the side to
move there. Table entries of another GENERATION are ignored. CONTEMPT is how much worse than 0 a draw counts for the
root's side; ITERATION is the nominal depth. AGE is the number of this search; NOISE the bound of the random error of
root moves (for weaker play), SEED its seed.
"""
WORK_SIZE = 16

HISTORY = 4096
"""Entries of the history and countermove tables for a side: `history_index` has 12 bits."""

STATIC, LAST_MOVE, KILLER, SECOND_KILLER = range(4)
"""Columns of `plies`: the evaluation, the move that led here (-1 after a null move), and the killer moves."""
MOVES = 4
"""Column of `plies` at which the legal moves begin; the columns after them depend on the kernel."""


class SearchState(NamedTuple):
    """All arrays that a search reads and writes, allocated once. Each array costs time in every call, so they are
    few.
    """

    work: npt.NDArray[np.int64]
    states: npt.NDArray[Any]
    keys: npt.NDArray[np.uint64]
    game_keys: npt.NDArray[np.uint64]
    plies: npt.NDArray[np.int64]
    """[ply, ...]: the columns STATIC .. SECOND_KILLER, then from MOVES, RANKS and CHILD_EVALS on one element per move.
    """
    history: npt.NDArray[np.int64]
    """[side, history index of a move]: the history heuristic; [2 + side, index of the previous move]: its countermove,
    or -1.
    """
    table: npt.NDArray[np.int64]
    accumulators: npt.NDArray[np.int32]
    """[ply, unit]: the first layer of the net, updated incrementally."""
    rows: npt.NDArray[np.int32]
    """Weights of the net, see `Net`."""
    maps: npt.NDArray[np.int64]
    """Rows of a state's elements, see `Net`."""


def new_helper_state(st: SearchState) -> SearchState:
    """Allocate the state of one more thread, which shares the transposition table and the net (lazy SMP)."""
    own = {
        name: np.zeros_like(getattr(st, name)) for name in SearchState._fields if name not in ("table", "rows", "maps")
    }
    return st._replace(**own)


def copy_root(helper: SearchState, st: SearchState) -> None:
    """Copy the search that was set up in `st` (see `start_search`) to the state of a helper thread."""
    helper.work[:], helper.game_keys[:], helper.history[:] = st.work, st.game_keys, st.history
    helper.states[0], helper.keys[0], helper.accumulators[0] = st.states[0], st.keys[0], st.accumulators[0]
    helper.plies[:, :MOVES] = st.plies[:, :MOVES]


@borrowing
def terminal_score(work: Any, code: int, side: int, ply: int) -> int:
    """Return the score for `side` of a game that ended at `ply` with a result code."""
    winner = code % 4
    if winner == 3:
        return -work[CONTEMPT] if side == work[ROOT_SIDE] else work[CONTEMPT]  # type: ignore[no-any-return]
    return WIN - ply if winner == side + 1 else ply - WIN


@borrowing
def must_stop(work: Any) -> bool:
    """Return whether the search has to end. Called before every move played, so a limit of nodes is exact."""
    if work[NODES] >= work[NODE_LIMIT] or work[STOP] != 0:
        work[ABORTED] = 1
    return work[ABORTED] != 0  # type: ignore[no-any-return]


@borrowing
def history_index(move: int) -> Any:
    """Return the index of a move in the history and countermove tables."""
    # Multiplicative hashing by the golden ratio (Knuth): neighbouring codes get far-apart indices in the high bits.
    return (np.uint64(move) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(52)
