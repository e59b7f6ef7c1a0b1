"""The strongest search here, over one family's kernel: alpha-beta with a learned evaluation and selective search.

It shares digests, repetitions, results and move ordering with `alphabeta`. It adds a learned evaluation or correction
of the static score, quiescence search, a two-bucket transposition table with aging, null-move pruning, reverse futility
pruning, razoring, futility pruning, late move reductions and aspiration windows. Which of these a family uses is stored
with its weights (`bots.search.net`).

Several threads may search the same position with one transposition table (lazy SMP), each with a state of its own
(`new_helper_state`, `copy_root`). Entries are read and written without locks; KEY is the digest XOR the rest, so an
entry that two threads wrote half each matches no position.

Ranking, table access and negamax are not shared with `alphabeta`. A common version with switches would double the
compile time of the plain search, carry a net through every call, and no longer read like a textbook's.

Loaded once per family (see the package). A search is a pure function of the position, its history, the limits, the net
and the table. `st` is the `ChampionState` in every function.
"""

# ruff: noqa: PLR0917 - the compiled functions call each other by position alone
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from bots.search import search
from bots.search.net import (
    ACTIVATION_ONE,
    ASPIRATION,
    BIAS,
    ELEMENT,
    EVAL_MARGIN,
    FIRST_COLUMN,
    FIRST_LINE,
    FIRST_PIECE_VALUE,
    FRONTIER_FUTILITY,
    FUTILITY,
    HEAD,
    HIDDEN,
    IS_BOARD,
    LINEAR_EVAL,
    LMR,
    LMR_EVEN_PLIES,
    LMR_FIRST_MOVE,
    MOVER,
    MOVER_BIT,
    NET,
    NULL_MOVE,
    QUIESCENCE,
    RAZORING,
    REVERSE_FUTILITY,
    SEARCH_FEATURES,
    SEEN_FROM,
    STRIDE,
    TEMPO,
    TUNED_PIECE_VALUES,
    Net,
)
from referee.rules.jit import ctz, jit
from referee.rules.per_family import family_of, kernel_for
from referee.rules.rules import Config, LinearFeatures, State, Tactics

F = TypeVar("F", bound=Callable[..., Any])

_kernel, _folder = kernel_for(__name__)
_plain = search("alphabeta", family_of(__name__))
legal, play, result, kernel_evaluate = _kernel.legal, _kernel.play, _kernel.result, _kernel.evaluate
enter_position, terminal_score, history_index, move_to_front, pick_best = (
    _plain.enter_position,
    _plain.terminal_score,
    _plain.history_index,
    _plain.move_to_front,
    _plain.pick_best,
)
must_stop, is_forced, key_of, order_moves = _plain.must_stop, _plain.is_forced, _plain.key_of, _plain.order_moves
digest = _plain.digest


def compiled(function: F) -> F:
    """Apply `jit`; a change of the kernel invalidates the cached code."""
    return jit(function, also=(_folder,), borrows=True)


def inlined(function: F) -> F:
    """Compile as `compiled` does, and inline the function into its callers. For functions that run in every position
    and take the whole state.
    """
    return jit(function, also=(_folder,), borrows=True, inlined=True)


@compiled
def no_captures(state: State, config: Config, prices: Any, moves: Any, gains: Any) -> int:
    """Serve as `Tactics.captures` in families without tactics."""
    return 0


@compiled
def fallback_quiet_eval(state: State, config: Config, prices: Any) -> int:
    """Serve as `Tactics.quiet_eval` in families without tactics."""
    return kernel_evaluate(state, config)


@compiled
def never_in_check(state: State, config: Config) -> bool:
    """Serve as `Tactics.in_check` in families without tactics."""
    return False


@compiled
def no_linear_features(state: State, config: Config, active: Any) -> int:
    """Serve as `LinearFeatures.linear_features` in families without linear features."""
    return 0


HAS_TACTICS = hasattr(_kernel, "captures")
"""Whether the kernel implements `referee.rules.rules.Tactics`."""
_tactics = cast(Tactics, _kernel)
kernel_captures: Any = _tactics.captures if HAS_TACTICS else no_captures
kernel_quiet_eval: Any = _tactics.quiet_eval if HAS_TACTICS else fallback_quiet_eval
in_check: Any = _tactics.in_check if HAS_TACTICS else never_in_check

HAS_LINEAR_FEATURES = hasattr(_kernel, "linear_features")
"""Whether the kernel implements `referee.rules.rules.LinearFeatures`."""
kernel_linear_features: Any = (
    cast(LinearFeatures, _kernel).linear_features if HAS_LINEAR_FEATURES else no_linear_features
)

MAX_DEPTH, MAX_GAME_PLIES = _plain.MAX_DEPTH, _plain.MAX_GAME_PLIES
ZERO, ONCE, KEY_SIZE, STATE_SIZE = _plain.ZERO, _plain.ONCE, _plain.KEY_SIZE, _plain.STATE_SIZE
WIN, PROVEN_WIN, INFINITY, WIN_IN_ONE = _plain.WIN, _plain.PROVEN_WIN, _plain.INFINITY, _plain.WIN_IN_ONE
RANK_SHIFT, INDEX_MASK, UNKNOWN, TERMINAL = _plain.RANK_SHIFT, _plain.INDEX_MASK, _plain.UNKNOWN, _plain.TERMINAL
HISTORY, FORCED, DEPTH_MASK = _plain.HISTORY, _plain.FORCED, _plain.DEPTH_MASK
EXACT, LOWER, UPPER = _plain.EXACT, _plain.LOWER, _plain.UPPER
STATIC, LAST_MOVE, KILLER, SECOND_KILLER = _plain.STATIC, _plain.LAST_MOVE, _plain.KILLER, _plain.SECOND_KILLER
MOVES, RANKS, CHILD_EVALS = _plain.MOVES, _plain.RANKS, _plain.CHILD_EVALS
TRUE: Any = np.bool_(True)
"""For a bare True numba would compile a second version of the function: see `alphabeta.STATE_SIZE`."""
KEY, MOVE, VALUE, META = _plain.KEY, _plain.MOVE, _plain.VALUE, _plain.META

NODES, NODE_LIMIT, STOP, ABORTED, BEST_MOVE, SCORE, ROOT_INDEX, ROOT_SIDE, GENERATION, CONTEMPT, ITERATION = range(11)
AGE, NOISE, SEED = 11, 12, 13
"""Further indices of `work`: the number of this search, for aging; the bound of the random error of root moves (for
weaker play), and its seed.
"""
WORK_SIZE = 16

AGE_SHIFT, GENERATION_SHIFT = 16, 24
"""META is generation << 24 | age << 16 | forced << 15 | depth << 2 | bound."""


class ChampionState(NamedTuple):
    """The state of alpha-beta (`alphabeta.SearchState`), and the net."""

    work: npt.NDArray[np.int64]
    states: npt.NDArray[Any]
    keys: npt.NDArray[np.uint64]
    game_keys: npt.NDArray[np.uint64]
    plies: npt.NDArray[np.int64]
    history: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]
    accumulators: npt.NDArray[np.int32]
    """[ply, unit]: the first layer of the net, updated incrementally."""
    rows: npt.NDArray[np.int32]
    """Weights of the net, see `Net`."""
    maps: npt.NDArray[np.int64]
    """Rows of a state's elements, see `Net`."""


Q_ALPHA, Q_BETA, STAND_PAT, Q_BEST, Q_CAPTURES, Q_TRIED = range(CHILD_EVALS, CHILD_EVALS + 6)
"""Columns of `plies` in `quiescence`: alpha and beta, the stand-pat score, the best score, the number of captures and
how many of them were tried.
"""
_depths, _numbers = np.ogrid[: MAX_DEPTH + 2, :256]
LINEAR_ROW: Any = np.int64(MAX_DEPTH + 1)
"""Row of `plies` that holds the linear features of the position being evaluated."""
UNITS = np.uint64(HIDDEN)
LINEAR_SHIFT = 4
"""Weights of linear features are in sixteenths of a centipawn."""
LMR_REDUCTIONS = (np.log(np.maximum(_depths, 1)) * np.log(np.maximum(_numbers, 1)) / 2.2).astype(np.int64)
"""[depth, number of the move]: late move reduction in plies."""
MAX_PRUNING_DEPTH = 4
"""Greatest depth for reverse futility pruning and futility pruning."""
MAX_QUIESCENCE_PLIES = 4
"""Greatest depth of the quiescence search."""
DELTA_MARGIN = 100
"""Delta pruning: a capture is searched if its gain plus this margin can raise alpha."""
RAZOR_MARGIN, MAX_RAZOR_DEPTH = 150, 2
"""Razoring: up to this depth, a position that is below alpha by the margin per ply goes straight to quiescence search.
"""
LMR_SECOND_PLY_FROM = 16
"""Moves from this number on are reduced by two plies in searches with quiescence and without the LMR table."""


def new_search_state(table_bytes: int, net: Net) -> ChampionState:
    """Allocate a search whose transposition table takes about `table_bytes`. Features the kernel cannot serve are
    switched off.
    """
    accumulators = np.zeros((MAX_DEPTH + 2, HIDDEN), dtype=np.int32)
    maps = net.maps
    if not HAS_LINEAR_FEATURES or net.rows.size < cast(LinearFeatures, _kernel).LINEAR_FEATURE_COUNT:
        maps[0, SEARCH_FEATURES] &= ~LINEAR_EVAL
    if HAS_TACTICS and maps[0, SEARCH_FEATURES] & TUNED_PIECE_VALUES == 0:
        maps[0, FIRST_PIECE_VALUE : FIRST_PIECE_VALUE + _tactics.PIECE_VALUES.size] = _tactics.PIECE_VALUES
    return ChampionState(
        **_plain.new_search_state(table_bytes)._asdict(), accumulators=accumulators, rows=net.rows, maps=maps
    )


def new_helper_state(st: ChampionState) -> ChampionState:
    """Allocate the state of one more thread, which shares the transposition table and the net (lazy SMP)."""
    own = {
        name: np.zeros_like(getattr(st, name))
        for name in ChampionState._fields
        if name not in ("table", "rows", "maps")
    }
    return st._replace(**own)


def copy_root(helper: ChampionState, st: ChampionState) -> None:
    """Copy the search that was set up in `st` (see `start_search`) to the state of a helper thread."""
    helper.work[:], helper.game_keys[:], helper.history[:] = st.work, st.game_keys, st.history
    helper.states[0], helper.keys[0], helper.accumulators[0] = st.states[0], st.keys[0], st.accumulators[0]
    helper.plies[:, :MOVES] = st.plies[:, :MOVES]


@compiled
def add_rows(accumulators: Any, rows: Any, maps: Any, map_row: int, bits: Any, offset: int, sign: int) -> None:
    """Add `sign` times the weights of a bitboard's set bits to the accumulators; `offset` is the row offset of the
    anchor.
    """
    while bits != 0:
        row = offset + maps[map_row, FIRST_COLUMN + ctz(bits)]
        bits &= bits - np.uint64(1)
        for unit in range(HIDDEN):
            accumulators[unit] += np.int32(sign) * rows[row, unit]


@compiled
def row_of(maps: Any, map_row: int, value: Any) -> int:
    """Return the row of weights for the value of a counter."""
    last = maps.shape[1] - 1
    column = FIRST_COLUMN + value
    return maps[map_row, last if value < 0 or column > last else column]  # type: ignore[no-any-return]


@compiled
def refresh_accumulator(accumulators: Any, rows: Any, maps: Any, state: State) -> None:
    """Compute the first layer of the net for a state from scratch."""
    offset = maps[0, STRIDE] * np.int64(state[maps[0, SEEN_FROM]])
    for unit in range(HIDDEN):
        accumulators[unit] = rows[BIAS, unit]
    for map_row in range(FIRST_LINE, maps.shape[0]):
        element = maps[map_row, ELEMENT]
        if maps[map_row, IS_BOARD] != 0:
            add_rows(accumulators, rows, maps, map_row, np.uint64(state[element]), offset, ONCE)
        else:
            row = row_of(maps, map_row, np.int64(state[element]))
            for unit in range(HIDDEN):
                accumulators[unit] += rows[row, unit]


@compiled
def update_accumulator(st: ChampionState, ply: int) -> None:
    """Compute the first layer of the net for `states[ply]` incrementally from that of the ply before."""
    accumulators, rows, maps = st.accumulators[ply], st.rows, st.maps
    before, state = st.states[ply - 1], st.states[ply]
    earlier, seen_from = st.accumulators[ply - 1], maps[0, SEEN_FROM]
    offset = maps[0, STRIDE] * np.int64(state[seen_from])
    if maps[0, STRIDE] != 0 and before[seen_from] != state[seen_from]:
        refresh_accumulator(accumulators, rows, maps, state)
        return
    for unit in range(HIDDEN):
        accumulators[unit] = earlier[unit]
    for map_row in range(FIRST_LINE, maps.shape[0]):
        element = maps[map_row, ELEMENT]
        if before[element] == state[element]:
            continue
        if maps[map_row, IS_BOARD] != 0:
            was, now = np.uint64(before[element]), np.uint64(state[element])
            add_rows(accumulators, rows, maps, map_row, was & ~now, offset, -ONCE)
            add_rows(accumulators, rows, maps, map_row, now & ~was, offset, ONCE)
        else:
            gone = row_of(maps, map_row, np.int64(before[element]))
            come = row_of(maps, map_row, np.int64(state[element]))
            for unit in range(HIDDEN):
                accumulators[unit] += rows[come, unit] - rows[gone, unit]


@compiled
def apply_net(rows: Any, maps: Any, accumulators: Any, state: State, score: Any) -> Any:
    """Return a static score with the net's correction, for the side to move."""
    if score >= WIN_IN_ONE or score <= -WIN_IN_ONE:
        return score
    is_second = np.int64(state[maps[0, MOVER]]) & maps[0, MOVER_BIT] != 0
    head, total = HEAD + is_second, ZERO
    for unit in range(HIDDEN):
        total += min(max(np.int64(accumulators[unit]), 0), ACTIVATION_ONE) * rows[head, unit]
    total >>= 16
    score += -total if is_second else total
    return min(max(score, 1 - WIN_IN_ONE), WIN_IN_ONE - 1)


@inlined
def evaluate_linear(st: ChampionState, ply: int, config: Config) -> Any:
    """Return the sum of the weights of the linear features of `states[ply]`."""
    active = st.plies[LINEAR_ROW]
    count = kernel_linear_features(st.states[ply], config, active)
    if count < 0:
        return WIN_IN_ONE
    total = ZERO
    for i in range(count):
        at = np.uint64(active[i])
        total += np.int64(st.rows[at // UNITS, at % UNITS])
    return min(max(total >> LINEAR_SHIFT, 1 - WIN_IN_ONE), WIN_IN_ONE - 1)


@inlined
def static_eval(st: ChampionState, ply: int, config: Config) -> Any:
    """Return the static score of `states[ply]`, without a net's correction."""
    if HAS_LINEAR_FEATURES and st.maps[0, SEARCH_FEATURES] & (LINEAR_EVAL | QUIESCENCE) == LINEAR_EVAL:
        return evaluate_linear(st, ply, config)
    return kernel_evaluate(st.states[ply], config)


@inlined
def quiet_eval(st: ChampionState, ply: int, config: Config) -> Any:
    """Return the stand-pat score of `states[ply]`: the static score if no capture follows."""
    if HAS_LINEAR_FEATURES and st.maps[0, SEARCH_FEATURES] & LINEAR_EVAL != 0:
        return evaluate_linear(st, ply, config)
    return kernel_quiet_eval(st.states[ply], config, st.maps[0, FIRST_PIECE_VALUE:])


@inlined
def evaluate(st: ChampionState, config: Config, ply: int, child_eval: int) -> Any:
    """Evaluate the position of `ply`, which is not over; `child_eval` is its static score, or UNKNOWN. Also sets
    STATIC.
    """
    score = static_eval(st, ply, config) if child_eval == UNKNOWN else child_eval
    if st.maps[0, SEARCH_FEATURES] & NET != 0:
        update_accumulator(st, ply)
        score = apply_net(st.rows, st.maps, st.accumulators[ply], st.states[ply], score)
    if -WIN_IN_ONE < score < WIN_IN_ONE:
        score = min(max(score + st.maps[0, TEMPO], 1 - WIN_IN_ONE), WIN_IN_ONE - 1)
    st.plies[ply, STATIC] = score
    return score


@compiled
def probe(st: ChampionState, ply: int) -> tuple[int, int, int]:
    """Look up the position of `ply` in the transposition table: its move, value and META, or META -1 if there is no
    entry.
    """
    slot, key = np.int64(st.keys[ply] & np.uint64(st.table.shape[0] - 2)), np.int64(st.keys[ply])
    for at in range(slot, slot + 2):
        move, value, meta = st.table[at, MOVE], st.table[at, VALUE], st.table[at, META]
        if st.table[at, KEY] ^ move ^ value ^ meta == key and meta >> GENERATION_SHIFT == st.work[GENERATION]:
            return move, value, meta
    return ZERO, ZERO, -ONCE


@compiled
def store(st: ChampionState, ply: int, depth: int, forced: int, move: int, score: int, alpha: int, beta: int) -> None:
    """Write a result to the transposition table: to the first bucket if that is older, shallower or of this position,
    else to the second.
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
def make_null_move(st: ChampionState, config: Config, ply: int) -> bool:
    """Put the position after a null move into `ply + 1`. Return whether the game continues there."""
    element, bit = st.maps[0, MOVER], st.maps[0, MOVER_BIT]
    state = st.states[ply + 1]
    for i in range(STATE_SIZE):
        state[i] = st.states[ply, i]
    if np.int64(state[element]) & ~bit != 0:  # the rules are in a phase in which passing has no meaning
        return False
    state[element] = np.int64(state[element]) ^ bit
    st.plies[ply + 1, LAST_MOVE] = -1
    return enter_position(st, config, ply + 1, UNKNOWN, TRUE) == 0  # type: ignore[no-any-return]


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
def quiescence(st: ChampionState, config: Config, ply: int, alpha: int, beta: int) -> int:
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
            if here[STAND_PAT] + gains[i] + DELTA_MARGIN > here[Q_ALPHA]:
                if must_stop(work):
                    return 0
                play(st.states[p], config, move, st.states[p + 1])
                work[NODES] += 1
                here[Q_TRIED] += 1
                p += 1
                st.plies[p, Q_ALPHA], st.plies[p, Q_BETA], is_known = -here[Q_BETA], -alpha, False


@compiled
def rank_moves(st: ChampionState, config: Config, ply: int, evaluates_children: bool, begin: int, end: int) -> None:
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
            row[CHILD_EVALS + i] = static_eval(st, ply + 1, config)
            rank = (row[RANKS + i] >> RANK_SHIFT) // 50 - row[CHILD_EVALS + i]
        else:
            row[CHILD_EVALS + i] = TERMINAL + code
            rank = 10 * terminal_score(work, code, side, ZERO)
        row[RANKS + i] = rank << RANK_SHIFT | INDEX_MASK - RANKS - i


@compiled
def root_noise(work: Any, move: int) -> int:
    """Return the random error of a root move, -NOISE..NOISE; equal seeds give equal errors."""
    drawn = (np.uint64(move) ^ np.uint64(work[SEED])) * np.uint64(0x9E3779B97F4A7C15)
    drawn = (drawn ^ (drawn >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(drawn >> np.uint64(33)) % (2 * work[NOISE] + 1) - work[NOISE]  # type: ignore[no-any-return]


@compiled
def negamax(  # noqa: C901, PLR0911, PLR0912, PLR0915 - a kernel: compiled as one function, laid out like a textbook's
    st: ChampionState, config: Config, ply: int, depth: int, alpha: int, beta: int, may_null_move: int
) -> int:
    """Return the score of `states[ply]` for the side to move, searched `depth` > 0 plies deep. The game must not be
    over there.

    Fail-soft within alpha..beta. `may_null_move` is 0 after a null move. Meaningless when `work[ABORTED]` is set.
    """
    work = st.work
    margin, features = st.maps[0, EVAL_MARGIN], st.maps[0, SEARCH_FEATURES]
    hash_move, forced = -1, 0
    is_pv = beta - alpha > 1
    if ply == 0:
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
        null_depth = depth - 3 - (depth >= 7)
        if uses_quiescence and null_depth <= 0:
            score = -quiescence(st, config, ply + 1, -beta, 1 - beta)
        else:
            score = -evaluate(st, config, ply + 1, UNKNOWN)
        if score > -WIN_IN_ONE:
            if null_depth > 0:
                score = -negamax(st, config, ply + 1, null_depth, -beta, 1 - beta, ZERO)
            if work[ABORTED] != 0:
                return 0
            if score >= beta:
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
            best_left = pick_best(row, RANKS + hash_moves, RANKS + count)
            at, rank = INDEX_MASK - (best_left & INDEX_MASK), best_left >> RANK_SHIFT
            if evaluates_children:
                child_eval = row[at + CHILD_EVALS - RANKS]
        move = row[at + MOVES - RANKS]
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
        if features & (LMR | LMR_EVEN_PLIES) != 0 and depth >= 3 and i >= st.maps[0, LMR_FIRST_MOVE] and forced == 0:
            reduction = LMR_REDUCTIONS[depth, min(i, 255)]
            if is_pv:
                reduction -= 1
            if features & LMR_EVEN_PLIES != 0:
                reduction &= ~1
            reduction = max(min(reduction, depth - 2), 0)
        elif features & (LMR | LMR_EVEN_PLIES) == 0 and depth >= 3 and i >= st.maps[0, LMR_FIRST_MOVE]:
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
        low, high = alpha - noise, beta - noise
        if code != 0:
            score = terminal_score(work, code, side, ply + 1)
        elif child_static >= WIN_IN_ONE:
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
        if -PROVEN_WIN < score < PROVEN_WIN:
            score += noise
        if score > best:
            best, best_move = score, move
            if ply == 0 and (score > original_alpha or i == 0):
                work[BEST_MOVE], work[SCORE] = move, score
        alpha = max(alpha, score)
        if best == WIN - ply - 1:  # no move is better than an immediate win
            break
        if alpha >= beta:
            if st.plies[ply, KILLER] != move:
                st.plies[ply, SECOND_KILLER] = st.plies[ply, KILLER]
                st.plies[ply, KILLER] = move
            st.history[side, history_index(move)] += depth * depth
            if ply > 0 and st.plies[ply, LAST_MOVE] >= 0:
                st.history[2 + side, history_index(st.plies[ply, LAST_MOVE])] = move
            break
    store(st, ply, depth, forced, best_move, best, original_alpha, beta)
    return best  # type: ignore[no-any-return]


def start_search(
    st: ChampionState, earlier: npt.NDArray[np.uint64], root: State, config: Config, side: int, first_move: int
) -> None:
    """Set up a search of `root` with `side` (0 first, 1 second) to move; `first_move` is any legal move.

    `earlier` holds the digests (see `key_of`) of the positions before it.
    """
    _plain.start_search(st, earlier, root, side, first_move)
    st.work[AGE] += 1
    refresh_accumulator(st.accumulators[0], st.rows, st.maps, st.states[0])


def search_iteration(st: ChampionState, config: Config, depth: int) -> None:
    """Run one iteration of iterative deepening; `work` holds its BEST_MOVE and SCORE, and ABORTED if it was cut short.

    From depth 4 on it begins with an aspiration window around the last score. Not compiled: see `alphabeta.STATE_SIZE`.
    """
    work = st.work
    work[ITERATION] = depth
    middle, width = int(work[SCORE]), 2 * int(st.maps[0, EVAL_MARGIN])
    low, high = -INFINITY, INFINITY
    if depth >= 4 and abs(middle) < PROVEN_WIN and st.maps[0, SEARCH_FEATURES] & ASPIRATION and not work[NOISE]:
        low, high = middle - width, middle + width
    while True:
        score = negamax(st, config, 0, depth, low, high, 0)
        if work[ABORTED] or low < score < high:
            return
        width *= 4
        if score <= low:
            low = score - width if abs(score) < PROVEN_WIN else -INFINITY
        else:
            high = score + width if abs(score) < PROVEN_WIN else INFINITY


def principal_variation(st: ChampionState, config: Config, max_moves: int) -> list[int]:
    """Return the principal variation: the best move, then the table's moves, at most `max_moves` in all."""
    state, line = st.states[0].copy(), [int(st.work[BEST_MOVE])]
    moves = np.zeros(_kernel.MAX_MOVES, dtype=np.int64)
    while len(line) < max_moves:
        after = np.zeros_like(state)
        play(state, config, line[-1], after)
        state = after
        st.keys[1] = digest(state, KEY_SIZE, STATE_SIZE, np.uint64(key_of(state)))
        move, _, meta = probe(st, 1)
        count = legal(state, config, moves)
        if meta < 0 or move not in moves[:count]:  # no entry, or that of another position with the same key
            break
        line.append(int(move))
    return line
