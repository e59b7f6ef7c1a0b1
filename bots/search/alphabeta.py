"""Negamax alpha-beta over one family's kernel: the search of the samples `alphabeta` and `champion`.

Every search has principal variation search, iterative deepening, a two-bucket transposition table with aging, killer
moves, the history heuristic and late move reductions. The search features of its weights (`bots.search.net`) switch on
the rest: the countermove heuristic, a learned evaluation (`bots.search.evaluation`), quiescence search, null-move
pruning, reverse futility pruning, razoring, futility pruning. The sample `alphabeta` has none of them: with
countermoves it is weaker in one family.

Several threads may search the same position with one transposition table (lazy SMP), each with a state of its own
(`new_helper_state`, `copy_root`). Entries are read and written without locks; KEY is the digest XOR the rest, so an
entry that two threads wrote half each matches no position.

Loaded once per family (see `bots.search`). A search is a pure function of the position, its history, the limits, the
net and the table; only `STOP`, set by another thread, can make two runs differ. `st` is the `SearchState` in every
function.

    ply 0     the root: states[0], game_keys[work[ROOT_INDEX]]
    ply p     states[p]; game_keys[work[ROOT_INDEX] + p] is the digest that repetitions compare, keys[p] that of the
              whole state; plies[p] holds the legal moves (the hash move first, the others ascending), their ranks and
              the static scores of the positions after them, all in the same order
"""

# ruff: noqa: PLR0917 - the compiled functions call each other by position alone
from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from bots.search import search
from bots.search.net import (
    EVAL_MARGIN,
    FIRST_PIECE_VALUE,
    FRONTIER_FUTILITY,
    FUTILITY,
    HIDDEN,
    LINEAR_EVAL,
    LMR_FIRST_MOVE,
    MOVER,
    MOVER_BIT,
    NO_COUNTERMOVES,
    NULL_MOVE,
    QUIESCENCE,
    RAZORING,
    REVERSE_FUTILITY,
    SEARCH_FEATURES,
    TEMPO,
    TUNED_PIECE_VALUES,
    Net,
)
from bots.search.repetition import MAX_GAME_PLIES, digest, key_of, repetition_count
from referee.rules.jit import prefetch
from referee.rules.kernel_protocol import LinearFeatures, Tactics
from referee.rules.per_family import family_of, kernel_for
from referee.rules.rules import Config, State

_kernel, compiled = kernel_for(__name__)
_evaluation = search("evaluation", family_of(__name__))
legal, play, result = _kernel.legal, _kernel.play, _kernel.result
evaluate, static_eval, quiet_eval = _evaluation.evaluate, _evaluation.static_eval, _evaluation.quiet_eval
kernel_captures, in_check, refresh_accumulator = (
    _evaluation.kernel_captures,
    _evaluation.in_check,
    _evaluation.refresh_accumulator,
)
HAS_TACTICS, HAS_LINEAR_FEATURES = _evaluation.HAS_TACTICS, _evaluation.HAS_LINEAR_FEATURES
MAX_DEPTH, WIN_IN_ONE, UNKNOWN = _evaluation.MAX_DEPTH, _evaluation.WIN_IN_ONE, _evaluation.UNKNOWN
ZERO, ONCE = _evaluation.ZERO, _evaluation.ONCE


MANY_TIMES: Any = np.int64(1 << 30)
KEY_SIZE: Any = np.int64(_kernel.KEY_SIZE)
STATE_SIZE: Any = np.int64(_kernel.STATE_SIZE)
TRUE: Any = np.bool_(True)
"""Numbers as arguments: for a bare 0 numba would compile a version of the function for 0 alone, and a recursive
function that is entered by such a version does not survive the disk cache.
"""

WIN = 30_000
"""Score of a win at the root. A win in n plies is WIN - n. Static scores stay far below."""
PROVEN_WIN = WIN - 1_000
"""Scores beyond are proven wins or losses: a search is far less than 1,000 plies deep, and static scores are lower."""
INFINITY = 1_000_000
RANK_SHIFT: Any = np.int64(20)
INDEX_MASK: Any = np.int64((1 << 20) - 1)
"""Ranks are stored as rank << RANK_SHIFT | INDEX_MASK - index in the row: the highest is the best, the first among
equals.
"""
PICKED: Any = np.int64(-1 << 62)
TERMINAL: Any = np.int64(1 << 32)
"""Entries of CHILD_EVALS: the static score of the position after the move, TERMINAL + its result code, or UNKNOWN."""
MAX_FORCED_REPLIES = 4
"""A reply is forced, and extended, if at most this many moves avoid an immediate loss and at least one move does not.
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

KEY, MOVE, VALUE, META = range(4)
"""Columns of `table`. META is generation << 24 | age << 16 | forced << 15 | depth << 2 | bound."""
EXACT, LOWER, UPPER = 1, 2, 3
FORCED, DEPTH_MASK = 1 << 15, 0x1FFF
"""The bit of META for forced replies, and the mask of its depth once the bound is shifted out."""
AGE_SHIFT, GENERATION_SHIFT = 16, 24

HISTORY = 4096
"""Entries of the history and countermove tables for a side: `history_index` has 12 bits."""

STATIC, LAST_MOVE, KILLER, SECOND_KILLER = range(4)
"""Columns of `plies`: the evaluation, the move that led here (-1 after a null move), and the killer moves."""
MOVES = 4
RANKS = MOVES + _kernel.MAX_MOVES
CHILD_EVALS = RANKS + _kernel.MAX_MOVES
Q_ALPHA, Q_BETA, STAND_PAT, Q_BEST, Q_CAPTURES, Q_TRIED = range(CHILD_EVALS, CHILD_EVALS + 6)
"""Columns of `plies` in `quiescence`: alpha and beta, the stand-pat score, the best score, the number of captures and
how many of them were tried.
"""
MAX_PRUNING_DEPTH = 4
"""Greatest depth for reverse futility pruning and futility pruning."""
MAX_QUIESCENCE_PLIES = 4
"""Greatest depth of the quiescence search.

The constants of quiescence search, this one and the next three, were set by hand and measured together in the one
built-in family with `Tactics` (docs/reports/2026-11-24-champion.md).
"""
DELTA_MARGIN = 100
"""Delta pruning: a capture is searched if its gain plus this margin can raise alpha."""
RAZOR_MARGIN, MAX_RAZOR_DEPTH = 150, 2
"""Razoring: up to this depth, a position that is below alpha by the margin per ply goes straight to quiescence search.
"""
LMR_SECOND_PLY_FROM = 16
"""Moves from this number on are reduced by two plies in searches with quiescence."""


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


def new_table(table_bytes: int) -> npt.NDArray[np.int64]:
    """Allocate a transposition table of 2**n entries of 32 bytes, about `table_bytes` in all, aligned so that no entry
    spans two cache lines.
    """
    entries = 1 << max(10, (table_bytes // 32).bit_length() - 1)
    room = np.zeros(4 * entries + 7, dtype=np.int64)
    start = -(room.ctypes.data >> 3) & 7
    return room[start : start + 4 * entries].reshape(entries, 4)


def new_search_state(table_bytes: int, net: Net) -> SearchState:
    """Allocate a search whose transposition table takes about `table_bytes`.

    The search feature LINEAR_EVAL is switched off if the kernel or the net lacks linear features.
    """
    maps = net.maps
    if not HAS_LINEAR_FEATURES or net.rows.size < cast(LinearFeatures, _kernel).LINEAR_FEATURE_COUNT:
        maps[0, SEARCH_FEATURES] &= ~LINEAR_EVAL
    if HAS_TACTICS and maps[0, SEARCH_FEATURES] & TUNED_PIECE_VALUES == 0:
        prices = cast(Tactics, _kernel).PIECE_VALUES
        maps[0, FIRST_PIECE_VALUE : FIRST_PIECE_VALUE + prices.size] = prices
    return SearchState(
        work=np.zeros(WORK_SIZE, dtype=np.int64),
        states=np.zeros((MAX_DEPTH + 2, _kernel.STATE_SIZE), dtype=_kernel.DTYPE),
        keys=np.zeros(MAX_DEPTH + 2, dtype=np.uint64),
        game_keys=np.zeros(MAX_GAME_PLIES + MAX_DEPTH + 2, dtype=np.uint64),
        plies=np.zeros((MAX_DEPTH + 2, CHILD_EVALS + _kernel.MAX_MOVES), dtype=np.int64),
        history=np.zeros((4, HISTORY), dtype=np.int64),
        table=new_table(table_bytes),
        accumulators=np.zeros((MAX_DEPTH + 2, HIDDEN), dtype=np.int32),
        rows=net.rows,
        maps=maps,
    )


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


@compiled
def history_index(move: int) -> Any:
    """Return the index of a move in the history and countermove tables."""
    # Multiplicative hashing by the golden ratio (Knuth): neighbouring codes get far-apart indices in the high bits.
    return (np.uint64(move) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(52)


@compiled.inlined
def enter_position(st: SearchState, config: Config, ply: int, child_eval: int, will_search: bool) -> int:
    """Store the digests of the position `states[ply]`; return its result code, 0 while the game continues.

    `child_eval` is the value that move ordering stored for it (see CHILD_EVALS). With `will_search` the table entry of
    the position is prefetched.
    """
    state = st.states[ply]
    at = st.work[ROOT_INDEX] + ply
    st.game_keys[at] = key_of(state, KEY_SIZE)
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


@compiled
def probe(st: SearchState, ply: int) -> tuple[int, int, int]:
    """Look up the position of `ply` in the transposition table: its move, value and META, or META -1 if there is no
    entry.
    """
    # Two neighbouring entries, which share a cache line, are the buckets of a position.
    slot, key = np.int64(st.keys[ply] & np.uint64(st.table.shape[0] - 2)), np.int64(st.keys[ply])
    for at in range(slot, slot + 2):
        move, value, meta = st.table[at, MOVE], st.table[at, VALUE], st.table[at, META]
        if st.table[at, KEY] ^ move ^ value ^ meta == key and meta >> GENERATION_SHIFT == st.work[GENERATION]:
            return move, value, meta
    return ZERO, ZERO, -ONCE


@compiled
def store(st: SearchState, ply: int, depth: int, forced: int, move: int, score: int, alpha: int, beta: int) -> None:
    """Write the result of a search to the transposition table.

    It replaces the entry of the first bucket if that is from an earlier search, not deeper, or of the same position;
    else it replaces the entry of the second bucket.
    """
    work, table = st.work, st.table
    slot = np.int64(st.keys[ply] & np.uint64(table.shape[0] - 2))
    key = np.int64(st.keys[ply])
    meta = table[slot, META]
    is_current = meta >> GENERATION_SHIFT == work[GENERATION] and (meta >> AGE_SHIFT & 255) == work[AGE] & 255
    held_key = table[slot, KEY] ^ table[slot, MOVE] ^ table[slot, VALUE] ^ meta
    if held_key != key and is_current and (meta >> 2 & DEPTH_MASK) > depth:
        slot += 1
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
    meta = work[GENERATION] << GENERATION_SHIFT | (work[AGE] & 255) << AGE_SHIFT | forced | depth << 2 | bound
    table[slot, KEY], table[slot, MOVE] = key ^ move ^ value ^ meta, move
    table[slot, VALUE], table[slot, META] = value, meta


@compiled
def make_null_move(st: SearchState, config: Config, ply: int) -> bool:
    """Set `states[ply + 1]` to the position after a null move; return whether it exists and the game continues."""
    element, bit = st.maps[0, MOVER], st.maps[0, MOVER_BIT]
    state = st.states[ply + 1]
    for i in range(STATE_SIZE):
        state[i] = st.states[ply, i]
    if np.int64(state[element]) & ~bit != 0:  # the rules are in a phase in which passing has no meaning
        return False
    state[element] = np.int64(state[element]) ^ bit
    st.plies[ply + 1, LAST_MOVE] = -1
    return enter_position(st, config, ply + 1, UNKNOWN, TRUE) == 0


@compiled
def pick_best_capture(moves: Any, gains: Any, i: int, count: int) -> int:
    """Move the most valuable of the captures `i..count-1` to index `i` and return it; on a tie the lower move code."""
    best = i
    for j in range(i + 1, count):
        if gains[j] > gains[best] or (gains[j] == gains[best] and moves[j] < moves[best]):
            best = j
    moves[i], moves[best] = moves[best], moves[i]
    gains[i], gains[best] = gains[best], gains[i]
    return moves[i]  # type: ignore[no-any-return]


@compiled
def quiescence(st: SearchState, config: Config, ply: int, alpha: int, beta: int) -> int:
    """Run a quiescence search: return the score of `states[ply]` for the side to move, which may stand pat or capture.

    It loops instead of recursing, because mutually recursive functions cannot be cached on disk.
    """
    work, p, is_known, value = st.work, ply, False, ZERO
    st.plies[p, Q_ALPHA], st.plies[p, Q_BETA] = alpha, beta
    while True:
        here = st.plies[p]
        moves, gains = here[MOVES:RANKS], here[RANKS:CHILD_EVALS]
        if not is_known:  # entered a moment ago
            if p - ply >= MAX_QUIESCENCE_PLIES or p + 1 >= MAX_DEPTH:
                value, is_known = quiet_eval(st, p, config) + st.maps[0, TEMPO], True
            else:
                value = quiet_eval(st, p, config) + st.maps[0, TEMPO]
                is_known = value >= here[Q_BETA]
                here[STAND_PAT], here[Q_BEST], here[Q_TRIED] = value, value, 0
                if not is_known:
                    here[Q_CAPTURES] = kernel_captures(
                        st.states[p], config, st.maps[0, FIRST_PIECE_VALUE:], moves, gains
                    )
        if is_known:
            if p == ply:
                return value  # type: ignore[no-any-return]
            p -= 1
            here = st.plies[p]
            moves, gains = here[MOVES:RANKS], here[RANKS:CHILD_EVALS]
            here[Q_BEST] = max(here[Q_BEST], -value)
        i, alpha = here[Q_TRIED], max(here[Q_ALPHA], here[Q_BEST])
        value, is_known = here[Q_BEST], True
        if i < here[Q_CAPTURES] and value < here[Q_BETA]:
            move = pick_best_capture(moves, gains, i, here[Q_CAPTURES])
            # Captures come by falling gain: if this one cannot raise alpha, none of the rest can, and the position is
            # done.
            if here[STAND_PAT] + gains[i] + DELTA_MARGIN > here[Q_ALPHA]:
                if must_stop(work):
                    return 0
                play(st.states[p], config, move, st.states[p + 1])
                work[NODES] += 1
                here[Q_TRIED] += 1
                p += 1
                st.plies[p, Q_ALPHA], st.plies[p, Q_BETA], is_known = -here[Q_BETA], -alpha, False


@compiled
def root_noise(work: Any, move: int) -> int:
    """Return the random error of a root move, -NOISE..NOISE; equal seeds give equal errors."""
    # Mixed by the multipliers of splitmix64 (see `referee.rules.jit.random64`).
    drawn = (np.uint64(move) ^ np.uint64(work[SEED])) * np.uint64(0x9E3779B97F4A7C15)
    drawn = (drawn ^ (drawn >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(drawn >> np.uint64(33)) % (2 * work[NOISE] + 1) - work[NOISE]  # type: ignore[no-any-return]


@compiled
def negamax(  # noqa: C901, PLR0911, PLR0912, PLR0915 - a kernel: compiled as one function, laid out like a textbook's
    st: SearchState, config: Config, ply: int, depth: int, alpha: int, beta: int, may_null_move: int
) -> int:
    """Return the score of `states[ply]` for the side to move, searched `depth` > 0 plies deep. The game must not be
    over there.

    Fail-soft within alpha..beta. `may_null_move` is 0 after a null move. The score is meaningless when `work[ABORTED]`
    is set.
    """
    work = st.work
    margin, features = st.maps[0, EVAL_MARGIN], st.maps[0, SEARCH_FEATURES]
    hash_move, forced = -1, 0
    is_pv = beta - alpha > 1
    if ply == 0:
        # The root's entry may have been overwritten; the best move of the last iteration is known anyway.
        hash_move = work[BEST_MOVE]
    else:
        move, value, meta = probe(st, ply)
        if meta >= 0:
            hash_move, forced = move, meta & FORCED
            if meta >> 2 & DEPTH_MASK >= depth:
                bound = meta & 3
                if value > PROVEN_WIN:
                    value -= ply
                elif value < -PROVEN_WIN:
                    value += ply
                if bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha):
                    return value
    static = st.plies[ply, STATIC]
    may_prune = (
        # A static score proves nothing: it must not cut off the proof of a win or of the only defence.
        ply > 0 and not is_pv and forced == 0 and alpha > -PROVEN_WIN and beta < PROVEN_WIN and abs(static) < WIN_IN_ONE
    )
    if (
        may_prune
        and features & REVERSE_FUTILITY != 0
        and depth <= MAX_PRUNING_DEPTH
        and static - margin * (depth + 1) // 2 >= beta
    ):
        return static  # type: ignore[no-any-return]
    if may_prune and features & RAZORING != 0 and depth == 1 and static + margin <= alpha:
        return static  # type: ignore[no-any-return]
    only_terminal = may_prune and features & FRONTIER_FUTILITY != 0 and depth == 1
    if only_terminal and static - margin >= beta:
        return static  # type: ignore[no-any-return]
    only_terminal = only_terminal and static + margin <= alpha
    uses_quiescence = HAS_TACTICS and features & QUIESCENCE != 0
    if may_prune and uses_quiescence:
        may_prune = not in_check(st.states[ply], config)
        static = quiet_eval(st, ply, config)
        if may_prune and depth <= MAX_RAZOR_DEPTH and static + RAZOR_MARGIN * depth <= alpha:
            score = quiescence(st, config, ply, alpha, beta)
            if work[ABORTED] != 0 or score <= alpha:
                return score
    if (
        may_prune
        and features & NULL_MOVE != 0
        and may_null_move != 0
        and (depth >= 3 or uses_quiescence)
        and static >= beta
        and ply + 2 < MAX_DEPTH
        and make_null_move(st, config, ply)
    ):
        work[NODES] += 1
        # The usual reduction: two plies more than the pass itself, three from depth 7 on.
        null_depth = depth - 3 - (depth >= 7)
        if uses_quiescence and null_depth <= 0:
            score = -quiescence(st, config, ply + 1, -beta, 1 - beta)
        else:
            score = -evaluate(st, config, ply + 1, UNKNOWN)
        # If the static score shows that the opponent then wins at once, the pass is refuted without a search.
        if score > -WIN_IN_ONE:
            if null_depth > 0:
                score = -negamax(st, config, ply + 1, null_depth, -beta, 1 - beta, ZERO)
            if work[ABORTED] != 0:
                return 0
            if score >= beta:
                # Not the score: a win after a pass does not prove one without it.
                return beta
    moves, row = st.plies[ply, MOVES:RANKS], st.plies[ply]
    count = legal(st.states[ply], config, moves)
    if count == 0:
        return static  # type: ignore[no-any-return]
    hash_moves = move_to_front(moves, count, hash_move)
    side = (work[ROOT_SIDE] + ply) & 1
    best, best_move, original_alpha, forced_extension, evaluates_children = -INFINITY, -1, alpha, 0, False
    for i in range(count):
        if i == hash_moves:  # ranked only after the hash move, which often causes a cutoff by itself
            evaluates_children = depth >= 3 or (depth == 2 and hash_moves == 0)
            rank_moves(st, config, ply, evaluates_children, i, count)
            if evaluates_children and work[ABORTED] == 0:
                forced = FORCED if is_forced(row, RANKS + i, RANKS + count) else 0
        if must_stop(work):
            return 0
        at, rank, child_eval = RANKS + i, ZERO, UNKNOWN
        if i >= hash_moves:
            # Sorting all moves would be wasted where one of the first causes a cutoff.
            best_left = pick_best(row, RANKS + hash_moves, RANKS + count)
            at, rank = INDEX_MASK - (best_left & INDEX_MASK), best_left >> RANK_SHIFT
            if evaluates_children:
                child_eval = row[at + CHILD_EVALS - RANKS]
        move = row[at + MOVES - RANKS]
        # Twice the nominal depth bounds all extensions of a line.
        if forced != 0 and depth >= 2 and ply < 2 * work[ITERATION] and ply + depth < MAX_DEPTH:
            forced_extension = 1
        if (
            may_prune
            and features & FUTILITY != 0
            and evaluates_children
            and i > 2
            and forced == 0
            and depth <= MAX_PRUNING_DEPTH
            and best > -PROVEN_WIN
            and rank - st.maps[0, TEMPO] + margin * depth // 2 <= alpha
        ):
            break  # moves come in the order of their static evaluation: no later one exceeds alpha
        reduction = 0
        if depth >= 3 and i >= st.maps[0, LMR_FIRST_MOVE]:
            reduction = 2 if uses_quiescence and depth >= 4 and i >= LMR_SECOND_PLY_FROM and not is_pv else 1
        extension = forced_extension
        play(st.states[ply], config, move, st.states[ply + 1])
        work[NODES] += 1
        st.plies[ply + 1, LAST_MOVE] = move
        if only_terminal:
            code, child_static = result(st.states[ply + 1], config, ONCE, ZERO), -static
        else:
            code = enter_position(st, config, ply + 1, child_eval, uses_quiescence or depth > 1)
            if uses_quiescence and depth == 1 and code == 0 and ply < 2 * work[ITERATION]:
                extension = int(in_check(st.states[ply + 1], config))
            child_static = (
                0
                if code != 0 or (uses_quiescence and depth + extension <= 1)
                else evaluate(st, config, ply + 1, child_eval)
            )
        noise = root_noise(work, move) if ply == 0 and work[NOISE] > 0 else 0
        # The error is added to the score afterwards, so the window moves by as much in the other direction.
        low, high = alpha - noise, beta - noise
        if code != 0:
            score = terminal_score(work, code, side, ply + 1)
        elif child_static >= WIN_IN_ONE:
            # The opponent wins with its next move.
            score = ply + 2 - WIN
        elif uses_quiescence and depth + extension <= 1:
            score = -quiescence(st, config, ply + 1, -high, -low)
        elif depth <= 1 - extension or ply + 1 >= MAX_DEPTH - 1:
            score = -child_static
        elif i == 0:
            score = -negamax(st, config, ply + 1, depth - 1 + extension, -high, -low, ONCE)
        else:
            # Late move reductions and a null window first; a move that exceeds alpha is searched again in full.
            score = -negamax(st, config, ply + 1, depth - 1 + extension - reduction, -low - 1, -low, ONCE)
            if score > low and work[ABORTED] == 0 and (reduction > 0 or score < high):
                score = -negamax(st, config, ply + 1, depth - 1 + extension, -high, -low, ONCE)
        if work[ABORTED] != 0:
            return 0
        # Weaker play errs in judging, but never misses a win that it has seen.
        if -PROVEN_WIN < score < PROVEN_WIN:
            score += noise
        if score > best:
            best, best_move = score, move
            if ply == 0:
                work[BEST_MOVE], work[SCORE] = move, score
        alpha = max(alpha, score)
        if best == WIN - ply - 1:  # no move is better than an immediate win
            break
        if alpha >= beta:
            if st.plies[ply, KILLER] != move:
                st.plies[ply, SECOND_KILLER] = st.plies[ply, KILLER]
                st.plies[ply, KILLER] = move
            # Cutoffs near the root save more than those near the leaves.
            st.history[side, history_index(move)] += depth * depth
            if features & NO_COUNTERMOVES == 0 and ply > 0 and st.plies[ply, LAST_MOVE] >= 0:
                st.history[2 + side, history_index(st.plies[ply, LAST_MOVE])] = move
            break
    store(st, ply, depth, forced, best_move, best, original_alpha, beta)
    return best


def start_search(st: SearchState, earlier: npt.NDArray[np.uint64], root: State, side: int, first_move: int) -> None:
    """Set up a search of `root` with `side` (0 first, 1 second) to move; `first_move` is any legal move.

    `earlier` holds the digests (see `key_of`) of the positions before it.
    """
    work, last = st.work, len(earlier)
    st.states[0] = root
    st.game_keys[:last] = earlier
    st.game_keys[last] = key_of(root, KEY_SIZE)
    st.keys[0] = digest(root, KEY_SIZE, STATE_SIZE, st.game_keys[last])
    work[ROOT_INDEX], work[ROOT_SIDE] = last, side
    work[NODES], work[ABORTED], work[BEST_MOVE], work[SCORE] = 0, 0, first_move, 0
    # Entries of earlier searches are replaced first.
    work[AGE] += 1
    st.plies[:, :MOVES] = -1
    # Nothing of earlier searches but the table may influence this one, so that it can be reproduced.
    st.history[:2], st.history[2:] = 0, -1
    refresh_accumulator(st.accumulators[0], st.rows, st.maps, root)


def search_iteration(st: SearchState, config: Config, depth: int) -> None:
    """Run one iteration of iterative deepening; `work` holds its BEST_MOVE and SCORE, and ABORTED if it was cut short.

    Not compiled: see STATE_SIZE.
    """
    st.work[ITERATION] = depth
    negamax(st, config, 0, depth, -INFINITY, INFINITY, 0)


def principal_variation(st: SearchState, config: Config, max_moves: int) -> list[int]:
    """Return the principal variation: the best move, then moves from the transposition table, at most `max_moves`."""
    state, line = st.states[0].copy(), [int(st.work[BEST_MOVE])]
    moves = np.zeros(_kernel.MAX_MOVES, dtype=np.int64)
    while len(line) < max_moves:
        after = np.zeros_like(state)
        play(state, config, line[-1], after)
        state = after
        st.keys[1] = digest(state, KEY_SIZE, STATE_SIZE, np.uint64(key_of(state, KEY_SIZE)))
        move, _, meta = probe(st, 1)
        count = legal(state, config, moves)
        if meta < 0 or move not in moves[:count]:  # no entry, or that of another position with the same key
            break
        line.append(int(move))
    return line
