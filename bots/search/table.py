"""The transposition table of the alpha-beta search: two buckets for a position, with aging.

Threads read and write entries without locks. KEY is the digest XOR the rest, so an entry that two threads wrote half
each matches no position.
"""

# ruff: noqa: PLR0917 - the compiled functions call each other by position alone
from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bots.search.search_state import AGE, GENERATION, ONCE, PROVEN_WIN, UNKNOWN, ZERO, SearchState
from referee.rules.jit import borrowing

KEY, MOVE, VALUE, META = range(4)
"""Columns of `table`. META is generation << 24 | age << 16 | forced << 15 | depth << 2 | bound."""
EXACT, LOWER, UPPER = 1, 2, 3
FORCED, DEPTH_MASK = 1 << 15, 0x1FFF
"""The bit of META for forced replies, and the mask of its depth once the bound is shifted out."""
AGE_SHIFT, GENERATION_SHIFT = 16, 24


def new_table(table_bytes: int) -> npt.NDArray[np.int64]:
    """Allocate a transposition table of 2**n entries of 32 bytes, about `table_bytes` in all, aligned so that no entry
    spans two cache lines.
    """
    entries = 1 << max(10, (table_bytes // 32).bit_length() - 1)
    room = np.zeros(4 * entries + 7, dtype=np.int64)
    start = -(room.ctypes.data >> 3) & 7
    return room[start : start + 4 * entries].reshape(entries, 4)


@borrowing
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


@borrowing
def decisive_score(value: int, meta: int, ply: int, depth: int, alpha: int, beta: int) -> int:
    """Return the score that an entry gives to the position of `ply`; UNKNOWN if it was searched less than `depth` plies
    deep, or its bound does not decide between alpha and beta.
    """
    if meta >> 2 & DEPTH_MASK < depth:
        return UNKNOWN  # type: ignore[no-any-return]
    if value > PROVEN_WIN:  # see `store`
        value -= ply
    elif value < -PROVEN_WIN:
        value += ply
    bound = meta & 3
    is_decisive = bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha)
    return value if is_decisive else UNKNOWN


@borrowing
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
