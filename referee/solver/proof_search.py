"""Depth-first proof-number search over one family's kernel: does the attacker win within a number of plies?

This module is loaded once per family by `referee.rules.per_family`. The *attacker* is the side that is to win; the
other side defends. A node is a state with `rest`, the plies left. Its proof numbers are kept from the view of its side
to move: `phi`, the effort to show that this side reaches its goal (the attacker to win in time, the defender not to
lose in time), and `delta`, the effort to show that it does not (A. Nagai, df-pn, 2002). The effort of "all moves fail"
is the largest of the moves' numbers plus the count of the others, not their sum, because moves transpose (Ueda and
others, weak proof-number search, 2008). With at most two plies left, the moves are searched directly.

Repetition and limits. A value found on one line of play may be wrong on another, whose earlier positions or counters
differ (M. Campbell, The graph-history interaction, 1985; A. Kishimoto and M. Müller, A general solution to the
graph-history interaction problem, 2004). Three facts keep the proofs exact, up to two states with one key (among 10^7
states of a search about once in 370,000 searches):

- Table keys are digests of 64 bits of the whole state with its counters; each entry says for how many plies it holds.
- If no win by repetition or by a limit is possible, repetitions can be ignored. A shortest win never repeats a
  position: the plies still needed decrease with every ply, and later counters only make a win harder. Conversely, a
  defence that needs no repetition holds whether or not repetitions end the game.
- Wins by repetition or by a limit are looked for in every position that the search reaches: would the attacker win if
  the position were a repetition, or does it win by a limit? If so, the search ends with `NEEDS_HISTORY`. Started again
  with `WITH_HISTORY`, it counts repetitions along the line and adds the line to the table's keys, so positions reached
  by different moves never share an entry.
"""

# ruff: noqa: PLR0917 - the compiled functions call each other by position alone
from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from referee.rules.kernel_protocol import Counters, Prospects
from referee.rules.per_family import kernel_for
from referee.rules.rules import Config, State

_kernel, compiled = kernel_for(__name__)
legal, play, result, count = _kernel.legal, _kernel.play, _kernel.result, _kernel.count


@compiled
def counts_nothing(state: State, config: Config, move: int, counter: int) -> int:
    """Return 0, in place of `Counters.counted`, for families without counters."""
    return 0


@compiled
def cannot_tell(state: State, config: Config, moves: int) -> bool:
    """Return True, in place of `Prospects.may_win`, for families without that function."""
    return True


counted: Any = cast(Counters, _kernel).counted if hasattr(_kernel, "counted") else counts_nothing
HAS_PROSPECTS = hasattr(_kernel, "may_win")
may_win: Any = cast(Prospects, _kernel).may_win if HAS_PROSPECTS else cannot_tell

MAX_PLIES = 128
"""The longest win, in plies."""

ZERO: Any = np.int64(0)
ONCE: Any = np.int64(1)
TWO: Any = np.int64(2)
MANY_TIMES: Any = np.int64(1 << 30)
KEY_SIZE: Any = np.int64(_kernel.KEY_SIZE)
STATE_SIZE: Any = np.int64(_kernel.STATE_SIZE)
"""Numbers to pass as arguments: a recursive function that was compiled for a literal cannot be cached on disk."""

INFINITE: Any = np.int64(1 << 30)
OPEN, WON, FAILED = 0, 1, 2
"""What is known of a node: nothing, that the attacker wins in time, or that it does not."""

NODES, NODE_LIMIT, STOP, ABORTED, ATTACKER, ROOT_SIDE, PHI, DELTA = range(8)
LIMIT_REASONS, WITH_HISTORY, NEEDS_HISTORY, COUNTER, MAX_COUNT, SECOND = range(8, 14)
"""Indices of `work`. NODES counts moves played and NODE_LIMIT ends the search; so does STOP, set by another thread.
ABORTED says that the search ended early. ATTACKER and ROOT_SIDE are sides (0 first, 1 second). PHI and DELTA are the
result of `search`, SECOND that of `weigh`. LIMIT_REASONS has a bit for each reason that depends on a count alone.
COUNTER is the condition's counter, or -1, and MAX_COUNT its largest value.
"""
WORK_SIZE = 16

KEY, NUMBERS, BOUNDS, EFFORT = range(4)
"""Columns of `table`. NUMBERS is phi << 32 | delta. BOUNDS is rest << 32 | proven << 16 | refuted: the plies that
NUMBERS are for, the fewest in which a win was proven and the most in which one was refuted (0: none). EFFORT is the
number of nodes.
"""

KILLER, MOVES = 0, 1
PHIS = MOVES + _kernel.MAX_MOVES
DELTAS = PHIS + _kernel.MAX_MOVES
ROW_SIZE = DELTAS + _kernel.MAX_MOVES
"""Columns of `rows`: the move that last decided a node of this ply, then for each move its code, phi and delta."""

_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_FACTORS = np.random.default_rng(2).integers(0, 1 << 63, 256, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
"""Odd numbers, one for each element of a state. The seed is fixed, as compiled code in the cache contains them."""


class ProofState(NamedTuple):
    """The arrays that a search reads and writes, allocated once."""

    work: npt.NDArray[np.int64]
    states: npt.NDArray[Any]
    keys: npt.NDArray[np.uint64]
    """The table key of the state at each ply, valid along the line being searched."""
    rows: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]


def new_proof_state(table_bytes: int) -> ProofState:
    """Allocate the arrays of a search with a transposition table of about `table_bytes`."""
    entries = 1 << max(10, (table_bytes // 32).bit_length() - 1)
    return ProofState(
        work=np.zeros(WORK_SIZE, dtype=np.int64),
        states=np.zeros((MAX_PLIES + 2, _kernel.STATE_SIZE), dtype=_kernel.DTYPE),
        keys=np.zeros(MAX_PLIES + 2, dtype=np.uint64),
        rows=np.full((MAX_PLIES + 2, ROW_SIZE), -1, dtype=np.int64),
        table=np.zeros((entries, 4), dtype=np.int64),
    )


@compiled
def is_attacking(ps: ProofState, ply: int) -> bool:
    """Return whether the attacker is to move in `states[ply]`."""
    return (ps.work[ROOT_SIDE] + ply) & 1 == ps.work[ATTACKER]  # type: ignore[no-any-return]


@compiled
def mixed(before: Any, number: Any) -> Any:
    """Combine a digest and a number into a new digest (uint64)."""
    word = (before ^ np.uint64(number)) * _FACTOR
    return (word ^ (word >> _HALF)) * _FACTOR


@compiled
def enter_key(ps: ProofState, ply: int, used: int) -> None:
    """Store the table key of `states[ply]`.

    `used` is how much the attacker's moves so far count towards the limit of the problem's condition.
    """
    state, total = ps.states[ply], np.uint64(used)
    for i in range(STATE_SIZE):
        total += mixed(np.uint64(0), state[i]) * _FACTORS[i & 255]
    if ps.work[WITH_HISTORY] != 0 and ply > 0:
        total = mixed(ps.keys[ply - 1], total)
    ps.keys[ply] = mixed(np.uint64(0), total)


@compiled
def repeats(ps: ProofState, ply: int) -> tuple[int, int]:
    """Return how often the position of `states[ply]` has occurred on the line, now included, and the plies since its
    previous occurrence (0 = none).
    """
    times, gap = 1, 0
    # The side to move is part of a position, which recurs after an even number of plies only.
    for back in range(2, ply + 1, 2):
        is_same = True
        for i in range(KEY_SIZE):
            if ps.states[ply - back, i] != ps.states[ply, i]:
                is_same = False
                break
        if is_same:
            times += 1
            if gap == 0:
                gap = back
    return times, gap


@compiled
def judge(ps: ProofState, config: Config, ply: int) -> int:
    """Judge `states[ply]` by the rules: OPEN while the game continues, WON if the attacker has won, else
    FAILED.
    """
    work, state = ps.work, ps.states[ply]
    wins = work[ATTACKER] + 1
    if work[WITH_HISTORY] != 0:
        times, gap = repeats(ps, ply)
        code = result(state, config, times, gap)
        if code == 0:
            return OPEN
        return WON if code % 4 == wins else FAILED
    code = result(state, config, ONCE, ZERO)
    if code == 0:
        # Whether the position has occurred before is unknown here: would a repetition win, the line has to be counted.
        if result(state, config, MANY_TIMES, TWO) % 4 == wins:
            work[NEEDS_HISTORY] = work[ABORTED] = 1
        return OPEN
    if code % 4 != wins:
        return FAILED
    if work[LIMIT_REASONS] >> (code // 4) & 1:
        work[NEEDS_HISTORY] = work[ABORTED] = 1
    return WON


@compiled
def must_stop(work: Any) -> bool:
    """Return whether the search must end: the nodes are spent, STOP is set, or the search was aborted before."""
    if work[NODES] >= work[NODE_LIMIT] or work[STOP] != 0:
        work[ABORTED] = 1
    return work[ABORTED] != 0  # type: ignore[no-any-return]


@compiled
def list_moves(ps: ProofState, config: Config, ply: int) -> int:
    """Write the legal moves of `states[ply]` to its row, the ply's killer move first; return their number."""
    row = ps.rows[ply]
    number = legal(ps.states[ply], config, row[MOVES:PHIS])
    for i in range(number):
        if row[MOVES + i] == row[KILLER]:
            row[MOVES + i] = row[MOVES]
            row[MOVES] = row[KILLER]
            break
    return number


@compiled
def used_after(ps: ProofState, config: Config, ply: int, move: int, used: int) -> int:
    """Return `used` (see `enter_key`) after an attacker's move; -1 if it would exceed the limit."""
    work = ps.work
    if work[COUNTER] < 0:
        return used
    total = used + counted(ps.states[ply], config, move, work[COUNTER])
    return total if total <= work[MAX_COUNT] else -1


@compiled
def wins_now(ps: ProofState, config: Config, ply: int, used: int) -> bool:
    """Return whether the attacker, to move in `states[ply]`, has a move that wins at once."""
    row, work = ps.rows[ply], ps.work
    if not may_win(ps.states[ply], config, ONCE):
        return False
    for i in range(list_moves(ps, config, ply)):
        move = row[MOVES + i]
        if used_after(ps, config, ply, move, used) < 0:
            continue
        play(ps.states[ply], config, move, ps.states[ply + 1])
        work[NODES] += 1
        if judge(ps, config, ply + 1) == WON:
            row[KILLER] = move
            return True
    return False


@compiled
def holds(ps: ProofState, config: Config, ply: int, used: int) -> bool:
    """Return whether the defender, to move in `states[ply]`, has a move after which the attacker cannot win at once."""
    row, work = ps.rows[ply], ps.work
    for i in range(list_moves(ps, config, ply)):
        move = row[MOVES + i]
        play(ps.states[ply], config, move, ps.states[ply + 1])
        work[NODES] += 1
        known = judge(ps, config, ply + 1)
        if must_stop(work):
            return True
        if known == FAILED or (known == OPEN and not wins_now(ps, config, ply + 1, used)):
            row[KILLER] = move
            return True
    return False


@compiled
def look_up(ps: ProofState, config: Config, ply: int, rest: int, used: int) -> int:
    """Look up `states[ply]` in the table and return its result; if that is OPEN, set PHI and DELTA.

    They get the values stored for the same `rest`, or else their initial values.
    """
    work = ps.work
    enter_key(ps, ply, used)
    key = np.int64(ps.keys[ply])
    slot = np.int64(ps.keys[ply] & np.uint64(ps.table.shape[0] - 1))
    for entry_slot in (slot, slot ^ 1):
        entry = ps.table[entry_slot]
        if entry[KEY] == key and entry[EFFORT] > 0:
            proven, refuted = entry[BOUNDS] >> 16 & 0xFFFF, entry[BOUNDS] & 0xFFFF
            if 0 < proven <= rest:
                return WON
            if refuted >= rest:
                return FAILED
            if entry[BOUNDS] >> 32 == rest:
                work[PHI], work[DELTA] = entry[NUMBERS] >> 32, entry[NUMBERS] & 0xFFFFFFFF
                return OPEN
            break
    # All moves of a node must fail to refute it: with more moves that takes more effort.
    work[PHI], work[DELTA] = 1, max(ONCE, count(ps.states[ply], config))
    return OPEN


@compiled
def store(ps: ProofState, ply: int, rest: int, phi: int, delta: int, effort: int) -> None:
    """Write the proof numbers of `states[ply]` to its entry in the table. If it has none, overwrite one of the two
    entries that its key may use: the one that took less effort.
    """
    slot = np.int64(ps.keys[ply] & np.uint64(ps.table.shape[0] - 1))
    key, proven, refuted = np.int64(ps.keys[ply]), ZERO, ZERO
    other = ps.table[slot ^ 1]
    if ps.table[slot, KEY] != key and (other[KEY] == key or other[EFFORT] < ps.table[slot, EFFORT]):
        slot ^= 1
    entry = ps.table[slot]
    if entry[KEY] == key:
        proven, refuted = entry[BOUNDS] >> 16 & 0xFFFF, entry[BOUNDS] & 0xFFFF
    if phi == 0 or delta == 0:
        if (phi == 0) == is_attacking(ps, ply):
            proven = rest if proven == 0 else min(proven, rest)
        else:
            refuted = max(refuted, rest)
    entry[KEY], entry[NUMBERS] = key, phi << 32 | delta
    entry[BOUNDS], entry[EFFORT] = rest << 32 | proven << 16 | refuted, effort


@compiled
def child_known(ps: ProofState, config: Config, ply: int, rest: int, used: int) -> int:
    """Return the result of `states[ply]` as far as it is known without a search; if OPEN, set PHI and DELTA."""
    known = judge(ps, config, ply)
    if known != OPEN or ps.work[ABORTED] != 0:
        return known
    if rest < 3:
        is_won = rest == 1 and wins_now(ps, config, ply, used)
        is_won |= rest == 2 and not holds(ps, config, ply, used)
        return WON if is_won else FAILED
    # The attacker makes the last ply, so it is to move whenever the plies left are odd.
    attacks = HAS_PROSPECTS and rest & 1 == 1
    if attacks and not may_win(ps.states[ply], config, (rest + 1) // 2):
        return FAILED
    known = look_up(ps, config, ply, rest, used)
    # A defence that does not parry a threat to win at once is refuted here, so only the others count as effort.
    if attacks and known == OPEN and wins_now(ps, config, ply, used):
        store(ps, ply, ONCE, ZERO, INFINITE, ONCE)
        return WON
    return known


@compiled
def expand(ps: ProofState, config: Config, ply: int, rest: int, used: int) -> int:
    """Write the moves of `states[ply]` whose result is OPEN, with their proof numbers, to its row; return how many.

    Return -1 if a move reaches the goal of the side to move. The result is invalid if `work[ABORTED]` is set.
    """
    work, row = ps.work, ps.rows[ply]
    is_attacker = is_attacking(ps, ply)
    kept = 0
    for i in range(list_moves(ps, config, ply)):
        move, used_then = row[MOVES + i], used
        if is_attacker:
            used_then = used_after(ps, config, ply, move, used)
            if used_then < 0:
                continue
        play(ps.states[ply], config, move, ps.states[ply + 1])
        work[NODES] += 1
        known = child_known(ps, config, ply + 1, rest - 1, used_then)
        if must_stop(work):
            return 0
        if known == OPEN:
            row[MOVES + kept], row[PHIS + kept], row[DELTAS + kept] = move, work[PHI], work[DELTA]
            kept += 1
        elif (known == WON) == is_attacker:
            row[KILLER] = move
            return -1
    return kept


@compiled
def weigh(ps: ProofState, ply: int, kept: int) -> int:
    """Combine the proof numbers of a row's first `kept` moves into PHI and DELTA; return the index of the best move.

    Set SECOND to the delta of the second best move.
    """
    row = ps.rows[ply]
    phi, delta, second, best = INFINITE, ZERO, INFINITE, 0
    for i in range(kept):
        delta = max(delta, row[PHIS + i])
        if row[DELTAS + i] < phi:
            second, phi, best = phi, row[DELTAS + i], i
        else:
            second = min(second, row[DELTAS + i])
    if kept > 0:
        delta = min(INFINITE - 1, delta + kept - 1)
    ps.work[PHI], ps.work[DELTA], ps.work[SECOND] = phi, delta, second
    return best


@compiled
def search(ps: ProofState, config: Config, ply: int, rest: int, used: int, phi_limit: int, delta_limit: int) -> int:
    """Search `states[ply]`, whose key must be set, until phi or delta reaches its limit; store both in PHI and DELTA.

    Return 0. PHI and DELTA are invalid if `work[ABORTED]` is set.
    """
    work, row = ps.work, ps.rows[ply]
    start = work[NODES]
    is_attacker = is_attacking(ps, ply)
    kept = expand(ps, config, ply, rest, used)
    if work[ABORTED] != 0:
        return 0
    while True:
        if kept < 0:
            work[PHI], work[DELTA] = ZERO, INFINITE
            break
        best = weigh(ps, ply, kept)
        if kept == 0 or work[PHI] >= phi_limit or work[DELTA] >= delta_limit:
            break
        move = row[MOVES + best]
        used_then = used_after(ps, config, ply, move, used) if is_attacker else used
        play(ps.states[ply], config, move, ps.states[ply + 1])
        enter_key(ps, ply + 1, used_then)
        # A limit a quarter above the second best move's delta avoids many switches between the two moves.
        limit = min(phi_limit, work[SECOND] + work[SECOND] // 4 + 1)
        # A child's phi enters this node's delta together with the count of the other moves (see `weigh`).
        search(ps, config, ply + 1, rest - 1, used_then, delta_limit - kept + 1, limit)
        if work[ABORTED] != 0:
            return 0
        if work[DELTA] == 0:
            row[KILLER] = move
            kept = -1
        elif work[PHI] == 0:
            kept -= 1
            for column in (MOVES, PHIS, DELTAS):
                row[column + best] = row[column + kept]
        else:
            row[PHIS + best], row[DELTAS + best] = work[PHI], work[DELTA]
    store(ps, ply, rest, work[PHI], work[DELTA], work[NODES] - start + 1)
    return 0


@compiled
def prove(ps: ProofState, config: Config, ply: int, rest: int, used: int) -> int:
    """Return WON or FAILED for `states[ply]` with `rest` plies left; OPEN if the search was aborted.

    All earlier states of the line must be set.
    """
    work = ps.work
    enter_key(ps, ply, used)
    known = child_known(ps, config, ply, rest, used)
    if known == OPEN and work[ABORTED] == 0:
        search(ps, config, ply, rest, used, INFINITE, INFINITE)
        known = WON if (work[PHI] == 0) == is_attacking(ps, ply) else FAILED
    return OPEN if work[ABORTED] != 0 else known
