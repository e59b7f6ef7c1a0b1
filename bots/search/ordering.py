"""The order in which a search tries moves: the hash move, then by static score, killer moves and history heuristic.

Loaded once per family (see `bots.search`).
"""

# ruff: noqa: PLR0917 - the compiled functions call each other by position alone
from __future__ import annotations

from typing import Any

import numpy as np

from bots.search import search
from bots.search.net import NO_COUNTERMOVES, SEARCH_FEATURES
from bots.search.search_state import (
    INDEX_MASK,
    KILLER,
    LAST_MOVE,
    MOVES,
    NODES,
    ONCE,
    RANK_SHIFT,
    ROOT_SIDE,
    SECOND_KILLER,
    TERMINAL,
    UNKNOWN,
    WIN_IN_ONE,
    ZERO,
    SearchState,
    history_index,
    must_stop,
    terminal_score,
)
from referee.rules.per_family import family_of, kernel_for
from referee.rules.rules import Config

_kernel, compiled = kernel_for(__name__)
play, result = _kernel.play, _kernel.result
static_eval = search("evaluation", family_of(__name__)).static_eval

RANKS = MOVES + _kernel.MAX_MOVES
CHILD_EVALS = RANKS + _kernel.MAX_MOVES
"""Columns of `plies` from which on each move has its rank, and the static score of the position after it: TERMINAL + a
result code if the game is over there, or UNKNOWN.
"""
PICKED: Any = np.int64(-1 << 62)
MAX_FORCED_REPLIES = 4
"""A reply is forced, and extended, if at most this many moves avoid an immediate loss and at least one move does not.
"""


@compiled
def move_to_front(moves: Any, count: int, hash_move: int) -> int:
    """Move `hash_move` to the front and keep the order of the others. Return 1 if it was among the moves, else 0."""
    for i in range(count):
        if moves[i] == hash_move:
            for j in range(i, 0, -1):
                moves[j] = moves[j - 1]
            moves[0] = hash_move
            return 1
    return 0


@compiled
def order_moves(st: Any, ply: int, begin: int, end: int) -> None:
    """Rank the moves `begin..end-1` of `ply` by history heuristic, killer moves and countermove."""
    row, history, work = st.plies[ply], st.history, st.work
    side = (work[ROOT_SIDE] + ply) & 1
    killer, second = row[KILLER], row[SECOND_KILLER]
    reply = history[2 + side, history_index(row[LAST_MOVE])] if ply > 0 else -ONCE
    for i in range(np.uint64(begin), np.uint64(end)):  # unsigned: see `pick_best`
        move = row[np.uint64(MOVES) + i]
        # Capped, so that a long history weighs hardly more than a killer move of this ply.
        rank = min(history[side, history_index(move)], 4_000)
        if move == killer:
            rank += 3_000
        elif move == second:
            rank += 2_000
        elif move == reply:
            rank += 2_000
        row[np.uint64(RANKS) + i] = rank << RANK_SHIFT | INDEX_MASK - RANKS - np.int64(i)


@compiled
def rank_moves(st: SearchState, config: Config, ply: int, evaluates_children: bool, begin: int, end: int) -> None:
    """Rank the moves `begin..end-1` of `ply` by `order_moves` and, with `evaluates_children`, by the static score after
    each move.
    """
    order_moves(st, ply, begin, end)
    if not evaluates_children:
        return
    row, work = st.plies[ply], st.work
    side = (work[ROOT_SIDE] + ply) & 1
    for i in range(begin, end):
        if must_stop(work):
            return
        play(st.states[ply], config, row[MOVES + i], st.states[ply + 1])
        work[NODES] += 1
        code = result(st.states[ply + 1], config, ONCE, ZERO)
        if code == 0:
            row[CHILD_EVALS + i] = static_eval(st, ply + 1, config)
            # A fiftieth: history and killers, 140 together at most, order moves of nearly equal static scores.
            rank = (row[RANKS + i] >> RANK_SHIFT) // 50 - row[CHILD_EVALS + i]
        else:
            row[CHILD_EVALS + i] = TERMINAL + code
            # Beyond every static score.
            rank = 10 * terminal_score(work, code, side, ZERO)
        row[RANKS + i] = rank << RANK_SHIFT | INDEX_MASK - RANKS - i


@compiled
def is_forced(ranks: Any, begin: int, end: int) -> bool:
    """Return whether some of the moves ranked `begin..end-1` lose at once and at most MAX_FORCED_REPLIES do not."""
    safe = 0
    for i in range(begin, end):
        # A loss in one has a rank of at most 140 - WIN_IN_ONE: history and killers must not hide it.
        if ranks[i] >> RANK_SHIFT > 500 - WIN_IN_ONE:
            safe += 1
            if safe > MAX_FORCED_REPLIES:
                return False
    return safe < end - begin


@compiled
def pick_best(ranks: Any, begin: int, end: int) -> int:
    """Remove and return the highest number of `ranks[begin:end]` (for its meaning see INDEX_MASK)."""
    best = PICKED
    for i in range(np.uint64(begin), np.uint64(end)):  # unsigned: vectorised, no check for negative indices
        best = max(best, ranks[i])
    ranks[INDEX_MASK - (best & INDEX_MASK)] = PICKED
    return best  # type: ignore[no-any-return]


@compiled.inlined
def next_move(row: Any, i: int, hash_moves: int, count: int, has_child_evals: bool) -> tuple[int, int, int]:
    """Return the move to try at the place `i` of `count`, its rank and its static score, UNKNOWN if it has none.

    The first `hash_moves` moves, 0 or 1, have no rank. `row` is that of the ply in `plies`.
    """
    at, rank, child_eval = RANKS + i, ZERO, UNKNOWN
    if i >= hash_moves:
        # Sorting all moves would be wasted where one of the first causes a cutoff.
        best_left = pick_best(row, RANKS + hash_moves, RANKS + count)
        at, rank = INDEX_MASK - (best_left & INDEX_MASK), best_left >> RANK_SHIFT
        if has_child_evals:
            child_eval = row[at + CHILD_EVALS - RANKS]
    return row[at + MOVES - RANKS], rank, child_eval


@compiled.inlined
def reward_cutoff(st: SearchState, ply: int, depth: int, move: int) -> None:
    """Remember a move that caused a beta cutoff: as killer move, in the history heuristic and as countermove."""
    row, side = st.plies[ply], (st.work[ROOT_SIDE] + ply) & 1
    if row[KILLER] != move:
        row[SECOND_KILLER] = row[KILLER]
        row[KILLER] = move
    # Cutoffs near the root save more than those near the leaves.
    st.history[side, history_index(move)] += depth * depth
    if st.maps[0, SEARCH_FEATURES] & NO_COUNTERMOVES == 0 and ply > 0 and row[LAST_MOVE] >= 0:
        st.history[2 + side, history_index(row[LAST_MOVE])] = move
