"""Negamax alpha-beta over one family's kernel: principal variation search, transposition table, move ordering.

Loaded once per family (see the package). A search is a pure function of the position, its history, the limits and the
table; only `STOP`, set by another thread, can make two runs differ. `st` is the `SearchState` in every function.

    ply 0     the root: states[0], game_keys[work[ROOT_INDEX]]
    ply p     states[p]; game_keys[work[ROOT_INDEX] + p] is the digest that repetitions compare, keys[p] that of the
              whole state; plies[p] holds the legal moves (the hash move first, the others ascending), their ranks and
              the evaluations of the positions after them, all in the same order
"""

# ruff: noqa: PLR0917 - the compiled functions call each other by position alone
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from bots.search.repetition import digest, repetition_count
from referee.rules.jit import jit, prefetch
from referee.rules.per_family import kernel_for
from referee.rules.rules import Config, State

F = TypeVar("F", bound=Callable[..., Any])

_kernel, _folder = kernel_for(__name__)
legal, play, result, evaluate = _kernel.legal, _kernel.play, _kernel.result, _kernel.evaluate


def compiled(function: F) -> F:
    """Apply `jit`; a change of the kernel invalidates the cached code."""
    return jit(function, also=(_folder,), borrows=True)


def inlined(function: F) -> F:
    """Compile as `compiled` does, and inline the function into its callers. For functions that run in every position
    and take the whole state.
    """
    return jit(function, also=(_folder,), borrows=True, inlined=True)


MAX_DEPTH = 60
MAX_GAME_PLIES = 4096
"""Longest game, in plies, all of whose positions are compared for repetitions."""

ZERO: Any = np.int64(0)
ONCE: Any = np.int64(1)
MANY_TIMES: Any = np.int64(1 << 30)
KEY_SIZE: Any = np.int64(_kernel.KEY_SIZE)
STATE_SIZE: Any = np.int64(_kernel.STATE_SIZE)
"""Numbers as arguments: for a bare 0 numba would compile a version of the function for 0 alone, and a recursive
function that is entered by such a version does not survive the disk cache.
"""

WIN = 30_000
"""Score of a win at the root. A win in n plies is WIN - n. Static scores stay far below."""
PROVEN_WIN = WIN - 1_000
INFINITY = 1_000_000
WIN_IN_ONE = 10_000
"""Static scores from here on mean that the side to move wins with this move (see `Kernel.evaluate`)."""
RANK_SHIFT: Any = np.int64(20)
INDEX_MASK: Any = np.int64((1 << 20) - 1)
"""Ranks are stored as rank << RANK_SHIFT | INDEX_MASK - index in the row: the highest is the best, the first among
equals.
"""
PICKED: Any = np.int64(-1 << 62)
UNKNOWN: Any = np.int64(-1 << 62)
TERMINAL: Any = np.int64(1 << 32)
"""Entries of CHILD_EVALS: the static score of the position after the move, TERMINAL + its result code, or UNKNOWN."""
MAX_FORCED_REPLIES = 4
"""A reply is forced, and extended, if at most this many moves avoid an immediate loss and at least one move does not.
"""

NODES, NODE_LIMIT, STOP, ABORTED, BEST_MOVE, SCORE, ROOT_INDEX, ROOT_SIDE, GENERATION, CONTEMPT, ITERATION = range(11)
"""Indices of `work`. NODES, NODE_LIMIT; STOP is set by another thread to end the search, ABORTED says that it ended
early. BEST_MOVE and SCORE are the result at the root, ROOT_INDEX its index in `game_keys`, ROOT_SIDE the side to
move there. Table entries of another GENERATION are ignored. CONTEMPT is how much worse than 0 a draw counts for the
root's side; ITERATION is the nominal depth.
"""
WORK_SIZE = 16

KEY, MOVE, VALUE, META = range(4)
"""Columns of `table`. META is generation << 16 | forced << 15 | depth << 2 | bound."""
EXACT, LOWER, UPPER = 1, 2, 3
FORCED, DEPTH_MASK = 1 << 15, 0x1FFF

HISTORY = 4096


STATIC, LAST_MOVE, KILLER, SECOND_KILLER = range(4)
"""Columns of `plies`: the static score, the move that led here (-1 after a null move), and the killer moves."""
MOVES = 4
RANKS = MOVES + _kernel.MAX_MOVES
CHILD_EVALS = RANKS + _kernel.MAX_MOVES


class SearchState(NamedTuple):
    """All arrays that a search reads and writes, allocated once. They are few, since each costs time in every call."""

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


def new_table(table_bytes: int) -> npt.NDArray[np.int64]:
    """Allocate a power of two of entries of 32 bytes, about `table_bytes` in all, aligned so that no entry spans two
    cache lines.
    """
    entries = 1 << max(10, (table_bytes // 32).bit_length() - 1)
    room = np.zeros(4 * entries + 7, dtype=np.int64)
    start = -(room.ctypes.data >> 3) & 7
    return room[start : start + 4 * entries].reshape(entries, 4)


def new_search_state(table_bytes: int) -> SearchState:
    """Allocate a search whose transposition table takes about `table_bytes`."""
    return SearchState(
        work=np.zeros(WORK_SIZE, dtype=np.int64),
        states=np.zeros((MAX_DEPTH + 2, _kernel.STATE_SIZE), dtype=_kernel.DTYPE),
        keys=np.zeros(MAX_DEPTH + 2, dtype=np.uint64),
        game_keys=np.zeros(MAX_GAME_PLIES + MAX_DEPTH + 2, dtype=np.uint64),
        plies=np.zeros((MAX_DEPTH + 2, CHILD_EVALS + _kernel.MAX_MOVES), dtype=np.int64),
        history=np.zeros((4, HISTORY), dtype=np.int64),
        table=new_table(table_bytes),
    )


@compiled
def history_index(move: int) -> Any:
    """Return the index of a move in the history and countermove tables."""
    return (np.uint64(move) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(52)


@inlined
def enter_position(st: SearchState, config: Config, ply: int, child_eval: int, will_search: bool) -> int:
    """Store the digests of the position in `states[ply]`; return its result code, 0 while the game continues.

    `child_eval` is the value that move ordering stored for it (see CHILD_EVALS). With `will_search` its table entry is
    prefetched.
    """
    state = st.states[ply]
    at = st.work[ROOT_INDEX] + ply
    st.game_keys[at] = digest(state, ZERO, KEY_SIZE, np.uint64(0))
    if will_search:
        st.keys[ply] = digest(state, KEY_SIZE, STATE_SIZE, st.game_keys[at])
        prefetch(st.table, np.int64(st.keys[ply] & np.uint64(st.table.shape[0] - 2)))
    times, gap = repetition_count(st.game_keys, at)
    if times == 1 and child_eval != UNKNOWN:
        return max(child_eval - TERMINAL, 0)  # type: ignore[no-any-return]
    # Score a first repetition as if the game ended by repetition: a side that can repeat once can repeat until the end.
    return result(state, config, times if times == 1 else MANY_TIMES, gap)


@compiled
def terminal_score(work: Any, code: int, side: int, ply: int) -> int:
    """Return the score for `side` of a game that ended at `ply` with a result code."""
    winner = code % 4
    if winner == 3:
        return -work[CONTEMPT] if side == work[ROOT_SIDE] else work[CONTEMPT]  # type: ignore[no-any-return]
    return WIN - ply if winner == side + 1 else ply - WIN


@compiled
def must_stop(work: Any) -> bool:
    """Return whether the search has to end. Called before every move played, so a limit of nodes is exact."""
    if work[NODES] >= work[NODE_LIMIT] or work[STOP] != 0:
        work[ABORTED] = 1
    return work[ABORTED] != 0  # type: ignore[no-any-return]


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
    each.
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
            row[CHILD_EVALS + i] = evaluate(st.states[ply + 1], config)
            rank = (row[RANKS + i] >> RANK_SHIFT) // 50 - row[CHILD_EVALS + i]
        else:
            row[CHILD_EVALS + i] = TERMINAL + code
            rank = 10 * terminal_score(work, code, side, ZERO)
        row[RANKS + i] = rank << RANK_SHIFT | INDEX_MASK - RANKS - i


@compiled
def is_forced(ranks: Any, begin: int, end: int) -> bool:
    """Return whether some of the moves ranked `begin..end-1` lose at once and at most MAX_FORCED_REPLIES do not."""
    safe = 0
    for i in range(begin, end):
        if ranks[i] >> RANK_SHIFT > 500 - WIN_IN_ONE:
            safe += 1
            if safe > MAX_FORCED_REPLIES:
                return False
    return safe < end - begin


@compiled
def pick_best(ranks: Any, begin: int, end: int) -> int:
    """Remove and return the highest of the ranks `begin..end-1` (see INDEX_MASK)."""
    best = PICKED
    for i in range(np.uint64(begin), np.uint64(end)):  # unsigned: vectorised, no check for negative indices
        best = max(best, ranks[i])
    ranks[INDEX_MASK - (best & INDEX_MASK)] = PICKED
    return best  # type: ignore[no-any-return]


@compiled
def store(st: SearchState, ply: int, depth: int, forced: int, move: int, score: int, alpha: int, beta: int) -> None:
    """Write a result to the transposition table unless its slot holds a deeper one of another position of this
    generation.
    """
    slot = np.int64(st.keys[ply] & np.uint64(st.table.shape[0] - 1))
    entry = st.table[slot]
    meta, generation = entry[META], st.work[GENERATION]
    if meta >> 16 == generation and (meta >> 2 & DEPTH_MASK) > depth and entry[KEY] != np.int64(st.keys[ply]):
        return
    bound = EXACT
    if score <= alpha:
        bound = UPPER
    elif score >= beta:
        bound = LOWER
    value = score
    if score > PROVEN_WIN:  # the table counts plies to a win from this position, the search counts them from the root
        value += ply
    elif score < -PROVEN_WIN:
        value -= ply
    entry[KEY], entry[MOVE], entry[VALUE] = np.int64(st.keys[ply]), move, value
    entry[META] = generation << 16 | forced | depth << 2 | bound


@compiled
def negamax(  # noqa: C901, PLR0912, PLR0915 - a kernel: compiled as one function, laid out like a textbook's
    st: SearchState, config: Config, ply: int, depth: int, alpha: int, beta: int
) -> int:
    """Return the score of `states[ply]` for the side to move, searched `depth` > 0 plies deep. The game must not be
    over there.

    Fail-soft within alpha..beta. Meaningless when `work[ABORTED]` is set.
    """
    work = st.work
    hash_move, forced = -1, 0
    if ply == 0:
        hash_move = work[BEST_MOVE]
    else:
        entry = st.table[np.int64(st.keys[ply] & np.uint64(st.table.shape[0] - 1))]
        if entry[KEY] == np.int64(st.keys[ply]) and entry[META] >> 16 == work[GENERATION]:
            hash_move, forced = entry[MOVE], entry[META] & FORCED
            if entry[META] >> 2 & DEPTH_MASK >= depth:
                value, bound = entry[VALUE], entry[META] & 3
                if value > PROVEN_WIN:
                    value -= ply
                elif value < -PROVEN_WIN:
                    value += ply
                if bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha):
                    return value  # type: ignore[no-any-return]
    moves, row = st.plies[ply, MOVES:RANKS], st.plies[ply]
    count = legal(st.states[ply], config, moves)
    if count == 0:
        return evaluate(st.states[ply], config)
    hash_moves = move_to_front(moves, count, hash_move)
    side = (work[ROOT_SIDE] + ply) & 1
    best, best_move, original_alpha, extension, evaluates_children = -INFINITY, -1, alpha, 0, False
    for i in range(count):
        if i == hash_moves:  # ranked only after the hash move, which often causes a cutoff by itself
            evaluates_children = depth >= 3 or (depth == 2 and hash_moves == 0)
            rank_moves(st, config, ply, evaluates_children, i, count)
            if evaluates_children and work[ABORTED] == 0:
                forced = FORCED if is_forced(row, RANKS + i, RANKS + count) else 0
        if must_stop(work):
            return 0
        at, child_eval = RANKS + i, UNKNOWN
        if i >= hash_moves:
            at = INDEX_MASK - (pick_best(row, RANKS + hash_moves, RANKS + count) & INDEX_MASK)
            if evaluates_children:
                child_eval = row[at + CHILD_EVALS - RANKS]
        move = row[at + MOVES - RANKS]
        if forced != 0 and depth >= 2 and ply < 2 * work[ITERATION] and ply + depth < MAX_DEPTH:
            extension = 1
        play(st.states[ply], config, move, st.states[ply + 1])
        work[NODES] += 1
        code = enter_position(st, config, ply + 1, child_eval, depth > 1)
        static = ZERO
        if code == 0:
            static = evaluate(st.states[ply + 1], config) if child_eval == UNKNOWN else child_eval
        if code != 0:
            score = terminal_score(work, code, side, ply + 1)
        elif static >= WIN_IN_ONE:
            score = ply + 2 - WIN
        elif depth <= 1 or ply + 1 > MAX_DEPTH:
            score = -static
        elif i == 0:
            score = -negamax(st, config, ply + 1, depth - 1 + extension, -beta, -alpha)
        else:
            # Late move reductions and a null window first; a move that exceeds alpha is searched again in full.
            reduction = 1 if depth >= 3 and i >= 12 else 0
            score = -negamax(st, config, ply + 1, depth - 1 + extension - reduction, -alpha - 1, -alpha)
            if score > alpha and work[ABORTED] == 0 and (reduction > 0 or score < beta):
                score = -negamax(st, config, ply + 1, depth - 1 + extension, -beta, -alpha)
        if work[ABORTED] != 0:
            return 0
        if score > best:
            best, best_move = score, move
            if ply == 0:
                work[BEST_MOVE], work[SCORE] = move, score
        alpha = max(alpha, score)
        if best == WIN - ply - 1:  # no move is better than an immediate win
            break
        if alpha >= beta:
            if row[KILLER] != move:
                row[SECOND_KILLER] = row[KILLER]
                row[KILLER] = move
            st.history[side, history_index(move)] += depth * depth
            break
    store(st, ply, depth, forced, best_move, best, original_alpha, beta)
    return best


@compiled
def key_of(state: State) -> Any:
    """Return the entry of `game_keys` for a position."""
    return digest(state, ZERO, KEY_SIZE, np.uint64(0))


def start_search(st: SearchState, earlier: npt.NDArray[np.uint64], root: State, side: int, first_move: int) -> None:
    """Set up a search of `root` with `side` (0 first, 1 second) to move; `first_move` is any legal move.

    `earlier` holds the digests (see `key_of`) of the positions before it.
    """
    work, last = st.work, len(earlier)
    st.states[0] = root
    st.game_keys[:last] = earlier
    st.game_keys[last] = key_of(root)
    st.keys[0] = digest(root, KEY_SIZE, STATE_SIZE, st.game_keys[last])
    work[ROOT_INDEX], work[ROOT_SIDE] = last, side
    work[NODES], work[ABORTED], work[BEST_MOVE], work[SCORE] = 0, 0, first_move, 0
    st.plies[:, :MOVES] = -1
    st.history[:2], st.history[2:] = 0, -1


def search_iteration(st: SearchState, config: Config, depth: int) -> None:
    """Run one iteration of iterative deepening; `work` holds its BEST_MOVE and SCORE, and ABORTED if it was cut short.

    Not compiled: see STATE_SIZE.
    """
    st.work[ITERATION] = depth
    negamax(st, config, 0, depth, -INFINITY, INFINITY)


def principal_variation(st: SearchState, config: Config, max_moves: int) -> list[int]:
    """Return the principal variation: the best move, then the table's moves, at most `max_moves` in all."""
    state, line = st.states[0].copy(), [int(st.work[BEST_MOVE])]
    moves = np.zeros(_kernel.MAX_MOVES, dtype=np.int64)
    while len(line) < max_moves:
        after = np.zeros_like(state)
        play(state, config, line[-1], after)
        state = after
        key = digest(state, KEY_SIZE, STATE_SIZE, np.uint64(key_of(state)))
        entry = st.table[int(key) & (st.table.shape[0] - 1)]
        if int(entry[KEY]) % 2**64 != int(key) or entry[META] >> 16 != st.work[GENERATION]:
            break
        count = legal(state, config, moves)
        if entry[MOVE] not in moves[:count]:  # no entry, or that of another position with the same key
            break
        line.append(int(entry[MOVE]))
    return line
