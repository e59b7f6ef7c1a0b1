"""Evaluation of positions in a search: the static score of the family's kernel, learned linear features, a net.

Loaded once per family (see `bots.search`). `st` is a `SearchState` in every function. The first layer of the net is
updated incrementally from ply to ply.
"""

# ruff: noqa: PLR0917 - the compiled functions call each other by position alone
from __future__ import annotations

from typing import Any, cast

import numpy as np

from bots.search.net import (
    ACTIVATION_ONE,
    BIAS,
    ELEMENT,
    FIRST_COLUMN,
    FIRST_LINE,
    FIRST_PIECE_VALUE,
    HEAD,
    HIDDEN,
    IS_BOARD,
    LINEAR_EVAL,
    MOVER,
    MOVER_BIT,
    NET,
    QUIESCENCE,
    SEARCH_FEATURES,
    SEEN_FROM,
    STRIDE,
    TEMPO,
)
from bots.search.search_state import MAX_DEPTH, ONCE, STATIC, UNKNOWN, WIN_IN_ONE, ZERO
from referee.rules.jit import ctz
from referee.rules.kernel_protocol import LinearFeatures, Tactics
from referee.rules.per_family import kernel_for
from referee.rules.rules import Config, State

_kernel, compiled = kernel_for(__name__)
kernel_evaluate = _kernel.evaluate


@compiled
def no_captures(state: State, config: Config, prices: Any, moves: Any, gains: Any) -> int:
    """Serve as `Tactics.captures` for kernels without `Tactics`."""
    return 0


@compiled
def fallback_quiet_eval(state: State, config: Config, prices: Any) -> int:
    """Serve as `Tactics.quiet_eval` for kernels without `Tactics`."""
    return kernel_evaluate(state, config)


@compiled
def never_in_check(state: State, config: Config) -> bool:
    """Serve as `Tactics.in_check` for kernels without `Tactics`."""
    return False


@compiled
def no_linear_features(state: State, config: Config, active: Any) -> int:
    """Serve as `LinearFeatures.linear_features` for kernels without `LinearFeatures`."""
    return 0


HAS_TACTICS = hasattr(_kernel, "captures")
"""Whether the kernel implements `referee.rules.kernel_protocol.Tactics`."""
_tactics = cast(Tactics, _kernel)
kernel_captures: Any = _tactics.captures if HAS_TACTICS else no_captures
kernel_quiet_eval: Any = _tactics.quiet_eval if HAS_TACTICS else fallback_quiet_eval
in_check: Any = _tactics.in_check if HAS_TACTICS else never_in_check

HAS_LINEAR_FEATURES = hasattr(_kernel, "linear_features")
"""Whether the kernel implements `referee.rules.kernel_protocol.LinearFeatures`."""
kernel_linear_features: Any = (
    cast(LinearFeatures, _kernel).linear_features if HAS_LINEAR_FEATURES else no_linear_features
)

LINEAR_ROW: Any = np.int64(MAX_DEPTH + 1)
"""Row of `plies` that holds the linear features of the position being evaluated."""
LINEAR_SHIFT = 4
"""Weights of linear features are in sixteenths of a centipawn."""
UNITS = np.uint64(HIDDEN)


@compiled
def add_rows(accumulators: Any, rows: Any, maps: Any, map_row: int, bits: Any, offset: int, sign: int) -> None:
    """Add the weights of a bitboard's set bits, times `sign`, to the accumulators.

    `offset` leads to the rows of weights for the present anchor cell (see `Features.seen_from`).
    """
    while bits != 0:
        row = offset + maps[map_row, FIRST_COLUMN + ctz(bits)]
        bits &= bits - np.uint64(1)
        for unit in range(HIDDEN):
            accumulators[unit] += np.int32(sign) * rows[row, unit]


@compiled
def row_of(maps: Any, map_row: int, value: Any) -> int:
    """Return the number of the row of weights for the value of a state's element that is not a bitboard."""
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
def update_accumulator(st: Any, ply: int) -> None:
    """Compute the first layer of the net for `states[ply]` incrementally from that of the ply before."""
    accumulators, rows, maps = st.accumulators[ply], st.rows, st.maps
    before, state = st.states[ply - 1], st.states[ply]
    earlier, seen_from = st.accumulators[ply - 1], maps[0, SEEN_FROM]
    offset = maps[0, STRIDE] * np.int64(state[seen_from])
    # All features are relative to the anchor cell: after its move none of the sums can be kept.
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
    # ACTIVATION_ONE * HEAD_SCALE is 2 ** 16.
    total >>= 16
    score += -total if is_second else total
    return min(max(score, 1 - WIN_IN_ONE), WIN_IN_ONE - 1)


@compiled.inlined
def evaluate_linear(st: Any, ply: int, config: Config) -> Any:
    """Return the score of `states[ply]` by the linear features; WIN_IN_ONE if the side to move can win at once."""
    active = st.plies[LINEAR_ROW]
    count = kernel_linear_features(st.states[ply], config, active)
    if count < 0:
        return WIN_IN_ONE
    total = ZERO
    for i in range(count):
        at = np.uint64(active[i])
        total += np.int64(st.rows[at // UNITS, at % UNITS])
    return min(max(total >> LINEAR_SHIFT, 1 - WIN_IN_ONE), WIN_IN_ONE - 1)


@compiled.inlined
def static_eval(st: Any, ply: int, config: Config) -> Any:
    """Return the static score of `states[ply]`, without a net's correction."""
    if HAS_LINEAR_FEATURES and st.maps[0, SEARCH_FEATURES] & (LINEAR_EVAL | QUIESCENCE) == LINEAR_EVAL:
        return evaluate_linear(st, ply, config)
    return kernel_evaluate(st.states[ply], config)


@compiled.inlined
def quiet_eval(st: Any, ply: int, config: Config) -> Any:
    """Return the stand-pat score of `states[ply]`: a static score that ignores possible captures."""
    if HAS_LINEAR_FEATURES and st.maps[0, SEARCH_FEATURES] & LINEAR_EVAL != 0:
        return evaluate_linear(st, ply, config)
    return kernel_quiet_eval(st.states[ply], config, st.maps[0, FIRST_PIECE_VALUE:])


@compiled.inlined
def evaluate(st: Any, config: Config, ply: int, child_eval: int) -> Any:
    """Evaluate the position of `ply`, which is not over, and store the score in the column STATIC.

    `child_eval` is its static score, or UNKNOWN.
    """
    score = static_eval(st, ply, config) if child_eval == UNKNOWN else child_eval
    if st.maps[0, SEARCH_FEATURES] & NET != 0:
        update_accumulator(st, ply)
        score = apply_net(st.rows, st.maps, st.accumulators[ply], st.states[ply], score)
    if -WIN_IN_ONE < score < WIN_IN_ONE:
        score = min(max(score + st.maps[0, TEMPO], 1 - WIN_IN_ONE), WIN_IN_ONE - 1)
    st.plies[ply, STATIC] = score
    return score
