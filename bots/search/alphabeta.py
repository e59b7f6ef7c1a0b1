"""Negamax alpha-beta over one family's kernel: the search of the samples `alphabeta` and `champion`.

Every search has principal variation search, iterative deepening, a transposition table, killer moves, the
history heuristic and late move reductions. The search features of its weights (`bots.search.net`) switch on the rest:
the countermove heuristic, a learned evaluation (`bots.search.evaluation`), quiescence search, null-move
pruning, reverse futility pruning, razoring, futility pruning. The sample `alphabeta` has none of them: with
countermoves it is weaker in one family.

Loaded once per family (see `bots.search`). A search is a pure function of the position, its history, the limits, the
net and the table; only `STOP`, set by another thread, can make two runs differ. `st` is the `SearchState` in every
function.
"""

# ruff: noqa: PLR0917 - the compiled functions call each other by position alone
from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from bots.search import search
from bots.search.net import (
    FIRST_PIECE_VALUE,
    HIDDEN,
    LINEAR_EVAL,
    MOVER,
    MOVER_BIT,
    NULL_MOVE,
    QUIESCENCE,
    SEARCH_FEATURES,
    TUNED_PIECE_VALUES,
    Net,
)
from bots.search.repetition import MAX_GAME_PLIES, digest, key_of, repetition_count
from bots.search.search_state import (
    ABORTED,
    AGE,
    BEST_MOVE,
    CONTEMPT,
    GENERATION,
    HISTORY,
    INFINITY,
    ITERATION,
    LAST_MOVE,
    MAX_DEPTH,
    MOVES,
    NODE_LIMIT,
    NODES,
    NOISE,
    ONCE,
    PROVEN_WIN,
    ROOT_INDEX,
    ROOT_SIDE,
    SCORE,
    SEED,
    STATIC,
    STOP,
    TERMINAL,
    TRUE,
    UNKNOWN,
    WIN,
    WIN_IN_ONE,
    WORK_SIZE,
    ZERO,
    SearchState,
    copy_root,
    must_stop,
    new_helper_state,
    terminal_score,
)
from bots.search.table import FORCED, decisive_score, new_table, probe, store
from referee.rules.jit import prefetch
from referee.rules.kernel_protocol import LinearFeatures, Tactics
from referee.rules.per_family import family_of, kernel_for
from referee.rules.rules import Config, State

_kernel, compiled = kernel_for(__name__)
legal, play, result = _kernel.legal, _kernel.play, _kernel.result
_evaluation, _ordering, _pruning, _quiescence = (
    search(name, family_of(__name__)) for name in ("evaluation", "ordering", "pruning", "quiescence")
)
evaluate, static_eval, quiet_eval = _evaluation.evaluate, _evaluation.static_eval, _evaluation.quiet_eval
in_check, refresh_accumulator = _evaluation.in_check, _evaluation.refresh_accumulator
HAS_TACTICS, HAS_LINEAR_FEATURES = _evaluation.HAS_TACTICS, _evaluation.HAS_LINEAR_FEATURES
RANKS, CHILD_EVALS, rank_moves = _ordering.RANKS, _ordering.CHILD_EVALS, _ordering.rank_moves
move_to_front, is_forced, next_move = _ordering.move_to_front, _ordering.is_forced, _ordering.next_move
reward_cutoff, quiescence, razor = _ordering.reward_cutoff, _quiescence.quiescence, _pruning.razor
is_decided, is_futile, late_move_reduction = _pruning.is_decided, _pruning.is_futile, _pruning.late_move_reduction

# The names that samples and training use, in addition to the functions here.
__all__ = ["ABORTED", "BEST_MOVE", "CONTEMPT", "GENERATION", "MAX_DEPTH", "NODES", "NODE_LIMIT", "NOISE", "SCORE"]
__all__ += ["SEED", "STOP", "WIN", "WIN_IN_ONE", "copy_root", "new_helper_state", "probe", "static_eval", "store"]

MANY_TIMES: Any = np.int64(1 << 30)
KEY_SIZE: Any = np.int64(_kernel.KEY_SIZE)
STATE_SIZE: Any = np.int64(_kernel.STATE_SIZE)
"""Numbers as arguments: see `search_state.TRUE`."""


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


@compiled.inlined
def make_move(st: SearchState, config: Config, ply: int, move: int, child_eval: int, will_search: bool) -> int:
    """Set `states[ply + 1]` to the position after `move`; return its result code (see `enter_position`)."""
    play(st.states[ply], config, move, st.states[ply + 1])
    st.work[NODES] += 1
    st.plies[ply + 1, LAST_MOVE] = move
    return enter_position(st, config, ply + 1, child_eval, will_search)


@compiled
def root_noise(work: Any, move: int) -> int:
    """Return the random error of a root move, -NOISE..NOISE; equal seeds give equal errors."""
    # Mixed by the multipliers of splitmix64 (see `referee.rules.jit.random64`).
    drawn = (np.uint64(move) ^ np.uint64(work[SEED])) * np.uint64(0x9E3779B97F4A7C15)
    drawn = (drawn ^ (drawn >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(drawn >> np.uint64(33)) % (2 * work[NOISE] + 1) - work[NOISE]  # type: ignore[no-any-return]


@compiled.inlined
def look_up(st: SearchState, ply: int, depth: int, alpha: int, beta: int) -> tuple[int, int, int]:
    """Return what the transposition table knows of `ply`: the hash move or -1, FORCED or 0, and the score if that entry
    is deep enough to decide, else UNKNOWN.
    """
    if ply == 0:
        # The root's entry may have been overwritten; the best move of the last iteration is known anyway.
        return st.work[BEST_MOVE], ZERO, UNKNOWN
    move, value, meta = probe(st, ply)
    if meta < 0:
        return -ONCE, ZERO, UNKNOWN
    return move, meta & FORCED, decisive_score(value, meta, ply, depth, alpha, beta)


@compiled.inlined
def leaf_score(
    st: SearchState,
    config: Config,
    ply: int,
    code: int,
    child_eval: int,
    depth: int,
    alpha: int,
    beta: int,
    uses_quiescence: bool,
) -> int:
    """Return the score of `states[ply]` for the side that has moved there, UNKNOWN if it has to be searched.

    `code` is its result, `depth` what remains there.
    """
    if code != 0:
        return terminal_score(st.work, code, (st.work[ROOT_SIDE] + ply + 1) & 1, ply)
    if uses_quiescence and depth <= 0:
        return -quiescence(st, config, ply, -beta, -alpha)  # type: ignore[no-any-return]
    static = evaluate(st, config, ply, child_eval)
    if static >= WIN_IN_ONE:  # the opponent wins with its next move
        return ply + 1 - WIN
    return -static if depth <= 0 or ply >= MAX_DEPTH - 1 else UNKNOWN  # type: ignore[no-any-return]


@compiled
def negamax(  # noqa: C901, PLR0911, PLR0912, PLR0915 - what calls it would have to stand here too: see `quiescence`
    st: SearchState, config: Config, ply: int, depth: int, alpha: int, beta: int, may_null_move: int
) -> int:
    """Return the score of `states[ply]` for the side to move, searched `depth` > 0 plies deep. The game must not be
    over there.

    Fail-soft within alpha..beta. `may_null_move` is 0 after a null move. The score is meaningless when `work[ABORTED]`
    is set.
    """
    work, features = st.work, st.maps[0, SEARCH_FEATURES]
    hash_move, forced, score = look_up(st, ply, depth, alpha, beta)
    if score != UNKNOWN:
        return score
    static, is_pv = st.plies[ply, STATIC], beta - alpha > 1
    uses_quiescence = HAS_TACTICS and features & QUIESCENCE != 0
    # A static score proves nothing: it must not cut off the proof of a win or of the only defence.
    may_prune = (
        ply > 0 and not is_pv and forced == 0 and alpha > -PROVEN_WIN and beta < PROVEN_WIN and abs(static) < WIN_IN_ONE
    )
    if may_prune:
        if is_decided(st, static, depth, alpha, beta):
            return static  # type: ignore[no-any-return]
        if uses_quiescence:
            may_prune, static = not in_check(st.states[ply], config), quiet_eval(st, ply, config)
            score = razor(st, config, ply, static, depth, alpha, beta) if may_prune else UNKNOWN
            if score != UNKNOWN:
                return score  # type: ignore[no-any-return]
    may_pass = features & NULL_MOVE != 0 and may_null_move != 0 and (depth >= 3 or uses_quiescence)
    if may_prune and may_pass and static >= beta and ply + 2 < MAX_DEPTH and make_null_move(st, config, ply):
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
    moves = st.plies[ply, MOVES:RANKS]
    count = legal(st.states[ply], config, moves)
    if count == 0:
        return static  # type: ignore[no-any-return]
    hash_moves = move_to_front(moves, count, hash_move)
    best, best_move, original_alpha, forced_extension, evaluates_children = -INFINITY, -1, alpha, 0, False
    for i in range(count):
        if i == hash_moves:  # ranked only after the hash move, which often causes a cutoff by itself
            evaluates_children = depth >= 3 or (depth == 2 and hash_moves == 0)
            rank_moves(st, config, ply, evaluates_children, i, count)
            if evaluates_children and work[ABORTED] == 0:
                forced = FORCED if is_forced(st.plies[ply], RANKS + i, RANKS + count) else 0
        if must_stop(work):
            return 0
        move, rank, child_eval = next_move(st.plies[ply], i, hash_moves, count, evaluates_children)
        # Twice the nominal depth bounds all extensions of a line.
        if forced != 0 and depth >= 2 and ply < 2 * work[ITERATION] and ply + depth < MAX_DEPTH:
            forced_extension = 1
        is_ordered = evaluates_children and i > 2
        if may_prune and forced == 0 and best > -PROVEN_WIN and is_ordered and is_futile(st, rank, depth, alpha):
            break  # moves come in the order of their static evaluation: no later one exceeds alpha
        code = make_move(st, config, ply, move, child_eval, uses_quiescence or depth > 1)
        extension = forced_extension
        if uses_quiescence and depth == 1 and code == 0 and ply < 2 * work[ITERATION]:
            extension = int(in_check(st.states[ply + 1], config))
        child_depth = depth - 1 + extension
        noise = root_noise(work, move) if ply == 0 and work[NOISE] > 0 else 0
        # The error is added to the score afterwards, so the window moves by as much in the other direction.
        low, high = alpha - noise, beta - noise
        score = leaf_score(st, config, ply + 1, code, child_eval, child_depth, low, high, uses_quiescence)
        if score == UNKNOWN and i == 0:
            score = -negamax(st, config, ply + 1, child_depth, -high, -low, ONCE)
        elif score == UNKNOWN:
            # Late move reductions and a null window first; a move that exceeds alpha is searched again in full.
            reduction = late_move_reduction(st, i, depth, uses_quiescence and not is_pv)
            score = -negamax(st, config, ply + 1, child_depth - reduction, -low - 1, -low, ONCE)
            if score > low and work[ABORTED] == 0 and (reduction > 0 or score < high):
                score = -negamax(st, config, ply + 1, child_depth, -high, -low, ONCE)
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
            reward_cutoff(st, ply, depth, move)
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
