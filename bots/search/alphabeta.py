"""Negamax alpha-beta over one family's kernel: principal variation search, transposition table, ordered moves.

Loaded once per family (see the package). A search is a pure function of the position, its history, the limits and the
table; only `STOP`, set from outside, can make two runs differ. Refuses to know the time.

    ply 0     the root: states[0], line[work[ROOT]]
    ply p     states[p], digest of what repetition compares in line[work[ROOT] + p], of the whole state in keys[p]
              where its moves are looked at; in plies[p] these, ascending behind the table's, their ranks and what was
              seen behind them, all in the same order
"""

# ruff: noqa: PLR0917 - the compiled functions call each other by position alone
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from bots.search.repetition import digest, recurrence
from referee.rules.jit import jit, prefetch
from referee.rules.per_family import kernel_for
from referee.rules.rules import Config, State

F = TypeVar("F", bound=Callable[..., Any])

_kernel, _folder = kernel_for(__name__)
legal, play, result, evaluate = _kernel.legal, _kernel.play, _kernel.result, _kernel.evaluate


def compiled(function: F) -> F:
    """`jit`, with a cache that a change of the kernel makes stale."""
    return jit(function, also=(_folder,), borrows=True)


def inlined(function: F) -> F:
    """The same for what is called for every position, with a whole desk."""
    return jit(function, also=(_folder,), borrows=True, inlined=True)


MAX_DEPTH = 60
MAX_LINE = 4096
"""The longest game, in plies, whose repetitions are looked at in full."""

NOUGHT: Any = np.int64(0)
ONCE: Any = np.int64(1)
OFTEN: Any = np.int64(1 << 30)
KEY_SIZE: Any = np.int64(_kernel.KEY_SIZE)
STATE_SIZE: Any = np.int64(_kernel.STATE_SIZE)
"""Numbers as arguments: for a bare 0 numba would compile a version of the function for 0 alone, and a recursive
function that is entered by such a version does not survive the disk cache."""

WIN = 30_000
"""A win at the root; one in n plies is worth WIN - n. Static scores stay far below."""
SURE = WIN - 1_000
INFINITE = 1_000_000
AT_HAND = 10_000
"""A static score from here on says that the side to move wins with this move (see `Kernel.evaluate`)."""
PLACE: Any = np.int64(20)
PLACES: Any = np.int64((1 << 20) - 1)
"""A rank is kept as rank << PLACE | PLACES - place in its row: the highest is the best, of equals the first."""
TAKEN: Any = np.int64(-1 << 62)
UNSEEN: Any = np.int64(-1 << 62)
ENDED: Any = np.int64(1 << 32)
"""What was seen behind a move: the static score of the position behind the move, ENDED + its result code, or UNSEEN."""
FEW = 4
"""So many moves that do not lose at once, all others doing so, are a forced reply."""

NODES, LIMIT, STOP, ABORTED, BEST, SCORE, ROOT, SIDE, GENERATION, CONTEMPT, NOMINAL = range(11)
"""`work`: nodes so far, their limit, the order to stop (set from outside), whether it was heeded; best move and score
at the root; the root's place in `line`; the side to move at the root; which searches may read what this one stores;
how much worse than even a draw is for the side to move at the root; the depth of this iteration."""
WORK_SIZE = 16

KEY, MOVE, VALUE, META = range(4)
"""The columns of `table`. META is generation << 16 | forced << 15 | depth << 2 | bound."""
EXACT, LOWER, UPPER = 1, 2, 3
FORCED, DEPTHS = 1 << 15, 0x1FFF

HISTORY = 4096


STATIC, PATH, KILLER, SECOND_KILLER = range(4)
"""Columns of `plies`: a static score and the move that led here, where a search asks for them; what cut lately."""
MOVES = 4
RANKS = MOVES + _kernel.MAX_MOVES
SEEN = RANKS + _kernel.MAX_MOVES


class Desk(NamedTuple):
    """Everything a search reads and writes, allocated once. Few arrays: each costs time in every call."""

    work: npt.NDArray[np.int64]
    states: npt.NDArray[Any]
    keys: npt.NDArray[np.uint64]
    line: npt.NDArray[np.uint64]
    plies: npt.NDArray[np.int64]
    """[ply, ...]: the columns STATIC .. SECOND_KILLER, then from MOVES, RANKS and SEEN on an element for each move."""
    history: npt.NDArray[np.int64]
    """[side, cell of a move]: how often it cut; [2 + side, cell of the move before]: what refuted that last, or -1."""
    table: npt.NDArray[np.int64]


def new_table(table_bytes: int) -> npt.NDArray[np.int64]:
    """A power of two of entries of 32 bytes, about `table_bytes` in all; none lies across two lines of the cache."""
    entries = 1 << max(10, (table_bytes // 32).bit_length() - 1)
    room = np.zeros(4 * entries + 7, dtype=np.int64)
    first = -(room.ctypes.data >> 3) & 7
    return room[first : first + 4 * entries].reshape(entries, 4)


def new_desk(table_bytes: int) -> Desk:
    """A desk whose table takes about `table_bytes`."""
    return Desk(
        work=np.zeros(WORK_SIZE, dtype=np.int64),
        states=np.zeros((MAX_DEPTH + 2, _kernel.STATE_SIZE), dtype=_kernel.DTYPE),
        keys=np.zeros(MAX_DEPTH + 2, dtype=np.uint64),
        line=np.zeros(MAX_LINE + MAX_DEPTH + 2, dtype=np.uint64),
        plies=np.zeros((MAX_DEPTH + 2, SEEN + _kernel.MAX_MOVES), dtype=np.int64),
        history=np.zeros((4, HISTORY), dtype=np.int64),
        table=new_table(table_bytes),
    )


@compiled
def cell_of(move: int) -> Any:
    """Where the history of a move is kept."""
    return (np.uint64(move) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(52)


@inlined
def visit(desk: Desk, config: Config, ply: int, seen: int, goes_on: bool) -> int:
    """Take note of the position just put into `states[ply]`: how the game stands there, of which `seen` is known.

    Where its own moves may be looked at (`goes_on`), the table's entry for it is sent for.
    """
    state = desk.states[ply]
    at = desk.work[ROOT] + ply
    desk.line[at] = digest(state, NOUGHT, KEY_SIZE, np.uint64(0))
    if goes_on:
        desk.keys[ply] = digest(state, KEY_SIZE, STATE_SIZE, desk.line[at])
        prefetch(desk.table, np.int64(desk.keys[ply] & np.uint64(desk.table.shape[0] - 2)))
    times, gap = recurrence(desk.line, at)
    if times == 1 and seen != UNSEEN:
        return max(seen - ENDED, 0)  # type: ignore[no-any-return]
    # A position that comes back once can be made to come back until the rules end the game: it is worth that end now.
    return result(state, config, times if times == 1 else OFTEN, gap)


@compiled
def ended(work: Any, code: int, side: int, ply: int) -> int:
    """The score for `side` of a game that ended at `ply` with a result code."""
    winner = code % 4
    if winner == 3:
        return -work[CONTEMPT] if side == work[SIDE] else work[CONTEMPT]  # type: ignore[no-any-return]
    return WIN - ply if winner == side + 1 else ply - WIN


@compiled
def out_of_nodes(work: Any) -> bool:
    """Whether one more position may not be played: asked before every play, so a limit of nodes is exact."""
    if work[NODES] >= work[LIMIT] or work[STOP] != 0:
        work[ABORTED] = 1
    return work[ABORTED] != 0  # type: ignore[no-any-return]


@compiled
def put_first(moves: Any, found: int, first: int) -> int:
    """Bring the move `first` to the front, the others in order; the number of moves so placed, 0 or 1."""
    for i in range(found):
        if moves[i] == first:
            for j in range(i, 0, -1):
                moves[j] = moves[j - 1]
            moves[0] = first
            return 1
    return 0


@compiled
def order_moves(desk: Any, ply: int, begin: int, end: int) -> None:
    """Rank the moves `begin..end-1` of `ply` by what cut before."""
    row, history, work = desk.plies[ply], desk.history, desk.work
    side = (work[SIDE] + ply) & 1
    killer, second = row[KILLER], row[SECOND_KILLER]
    reply = history[2 + side, cell_of(row[PATH])] if ply > 0 else -ONCE
    for i in range(np.uint64(begin), np.uint64(end)):  # of no sign: see `take_best`
        move = row[np.uint64(MOVES) + i]
        rank = min(history[side, cell_of(move)], 4_000)
        if move == killer:
            rank += 3_000
        elif move == second:
            rank += 2_000
        elif move == reply:
            rank += 2_000
        row[np.uint64(RANKS) + i] = rank << PLACE | PLACES - RANKS - np.int64(i)


@compiled
def rank_moves(desk: Desk, config: Config, ply: int, looks: bool, begin: int, end: int) -> None:
    """Rank the moves `begin..end-1` of `ply` by what cut before and, with `looks`, by how the next position looks."""
    order_moves(desk, ply, begin, end)
    if not looks:
        return
    row, work = desk.plies[ply], desk.work
    side = (work[SIDE] + ply) & 1
    for i in range(begin, end):
        if out_of_nodes(work):
            return
        play(desk.states[ply], config, row[MOVES + i], desk.states[ply + 1])
        work[NODES] += 1
        code = result(desk.states[ply + 1], config, ONCE, NOUGHT)
        if code == 0:
            row[SEEN + i] = evaluate(desk.states[ply + 1], config)
            rank = (row[RANKS + i] >> PLACE) // 50 - row[SEEN + i]
        else:
            row[SEEN + i] = ENDED + code
            rank = 10 * ended(work, code, side, NOUGHT)
        row[RANKS + i] = rank << PLACE | PLACES - RANKS - i


@compiled
def is_forced(ranks: Any, begin: int, end: int) -> bool:
    """Whether at most FEW of the moves ranked `begin..end-1` leave the opponent without a win at once, and some do."""
    safe = 0
    for i in range(begin, end):
        if ranks[i] >> PLACE > 500 - AT_HAND:
            safe += 1
            if safe > FEW:
                return False
    return safe < end - begin


@compiled
def take_best(ranks: Any, begin: int, end: int) -> int:
    """The highest of the ranks `begin..end-1`, which is taken out: see PLACE."""
    best = TAKEN
    for i in range(np.uint64(begin), np.uint64(end)):  # of no sign: several at once, none counted from the end
        best = max(best, ranks[i])
    ranks[PLACES - (best & PLACES)] = TAKEN
    return best  # type: ignore[no-any-return]


@compiled
def store(desk: Desk, ply: int, depth: int, forced: int, move: int, score: int, alpha: int, beta: int) -> None:
    """Remember what was found out about `ply` for this and later searches of the same generation."""
    slot = np.int64(desk.keys[ply] & np.uint64(desk.table.shape[0] - 1))
    entry = desk.table[slot]
    meta, generation = entry[META], desk.work[GENERATION]
    if meta >> 16 == generation and (meta >> 2 & DEPTHS) > depth and entry[KEY] != np.int64(desk.keys[ply]):
        return
    bound = EXACT
    if score <= alpha:
        bound = UPPER
    elif score >= beta:
        bound = LOWER
    value = score
    if score > SURE:  # distances to the end count from here in the table, from the root in the search
        value += ply
    elif score < -SURE:
        value -= ply
    entry[KEY], entry[MOVE], entry[VALUE] = np.int64(desk.keys[ply]), move, value
    entry[META] = generation << 16 | forced | depth << 2 | bound


@compiled
def negamax(  # noqa: C901, PLR0912, PLR0915 - a kernel: compiled as one, and read beside the textbook's
    desk: Desk, config: Config, ply: int, depth: int, alpha: int, beta: int
) -> int:
    """The score of `states[ply]`, where the game goes on, for the side to move, `depth` > 0 plies deep.

    Fail-soft within alpha..beta. Meaningless when `work[ABORTED]` is set.
    """
    work = desk.work
    first, forced = -1, 0
    if ply == 0:
        first = work[BEST]
    else:
        entry = desk.table[np.int64(desk.keys[ply] & np.uint64(desk.table.shape[0] - 1))]
        if entry[KEY] == np.int64(desk.keys[ply]) and entry[META] >> 16 == work[GENERATION]:
            first, forced = entry[MOVE], entry[META] & FORCED
            if entry[META] >> 2 & DEPTHS >= depth:
                value, bound = entry[VALUE], entry[META] & 3
                if value > SURE:
                    value -= ply
                elif value < -SURE:
                    value += ply
                if bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha):
                    return value  # type: ignore[no-any-return]
    moves, row = desk.plies[ply, MOVES:RANKS], desk.plies[ply]
    found = legal(desk.states[ply], config, moves)
    if found == 0:
        return evaluate(desk.states[ply], config)
    placed = put_first(moves, found, first)
    side = (work[SIDE] + ply) & 1
    best, best_move, floor, deeper, looks = -INFINITE, -1, alpha, 0, False
    for i in range(found):
        if i == placed:  # not before the table's move, which often is enough
            looks = depth >= 3 or (depth == 2 and placed == 0)
            rank_moves(desk, config, ply, looks, i, found)
            if looks and work[ABORTED] == 0:
                forced = FORCED if is_forced(row, RANKS + i, RANKS + found) else 0
        if out_of_nodes(work):
            return 0
        at, seen = RANKS + i, UNSEEN
        if i >= placed:
            at = PLACES - (take_best(row, RANKS + placed, RANKS + found) & PLACES)
            if looks:
                seen = row[at + SEEN - RANKS]
        move = row[at + MOVES - RANKS]
        if forced != 0 and depth >= 2 and ply < 2 * work[NOMINAL] and ply + depth < MAX_DEPTH:
            deeper = 1
        play(desk.states[ply], config, move, desk.states[ply + 1])
        work[NODES] += 1
        code = visit(desk, config, ply + 1, seen, depth > 1)
        static = NOUGHT
        if code == 0:
            static = evaluate(desk.states[ply + 1], config) if seen == UNSEEN else seen
        if code != 0:
            score = ended(work, code, side, ply + 1)
        elif static >= AT_HAND:
            score = ply + 2 - WIN
        elif depth <= 1 or ply + 1 > MAX_DEPTH:
            score = -static
        elif i == 0:
            score = -negamax(desk, config, ply + 1, depth - 1 + deeper, -beta, -alpha)
        else:
            # Late moves are looked at less deeply first; one that surprises is looked at again.
            less = 1 if depth >= 3 and i >= 12 else 0
            score = -negamax(desk, config, ply + 1, depth - 1 + deeper - less, -alpha - 1, -alpha)
            if score > alpha and work[ABORTED] == 0 and (less > 0 or score < beta):
                score = -negamax(desk, config, ply + 1, depth - 1 + deeper, -beta, -alpha)
        if work[ABORTED] != 0:
            return 0
        if score > best:
            best, best_move = score, move
            if ply == 0:
                work[BEST], work[SCORE] = move, score
        alpha = max(alpha, score)
        if best == WIN - ply - 1:  # nothing is better than winning now
            break
        if alpha >= beta:
            if row[KILLER] != move:
                row[SECOND_KILLER] = row[KILLER]
                row[KILLER] = move
            desk.history[side, cell_of(move)] += depth * depth
            break
    store(desk, ply, depth, forced, best_move, best, floor, beta)
    return best


@compiled
def key_of(state: State) -> Any:
    """What `line` holds for a position."""
    return digest(state, NOUGHT, KEY_SIZE, np.uint64(0))


def begin(desk: Desk, earlier: npt.NDArray[np.uint64], root: State, side: int, first: int) -> None:
    """Lay out a search of `root`, with `side` (0 first, 1 second) to move and `first` a legal move.

    `earlier` holds the digests (see `key_of`) of the game before.
    """
    work, last = desk.work, len(earlier)
    desk.states[0] = root
    desk.line[:last] = earlier
    desk.line[last] = key_of(root)
    desk.keys[0] = digest(root, KEY_SIZE, STATE_SIZE, desk.line[last])
    work[ROOT], work[SIDE] = last, side
    work[NODES], work[ABORTED], work[BEST], work[SCORE] = 0, 0, first, 0
    desk.plies[:, :MOVES] = -1
    desk.history[:2], desk.history[2:] = 0, -1


def deepen(desk: Desk, config: Config, depth: int) -> None:
    """One iteration. `work[BEST]` and `work[SCORE]` hold the best so far, `work[ABORTED]` whether it was cut short.

    Not compiled: see NOUGHT.
    """
    desk.work[NOMINAL] = depth
    negamax(desk, config, 0, depth, -INFINITE, INFINITE)


def variation(desk: Desk, config: Config, most: int) -> list[int]:
    """The line expected: the best move, then what the table holds for the positions behind it, `most` moves at most."""
    state, found = desk.states[0].copy(), [int(desk.work[BEST])]
    moves = np.zeros(_kernel.MAX_MOVES, dtype=np.int64)
    while len(found) < most:
        after = np.zeros_like(state)
        play(state, config, found[-1], after)
        state = after
        key = digest(state, KEY_SIZE, STATE_SIZE, np.uint64(key_of(state)))
        entry = desk.table[int(key) & (desk.table.shape[0] - 1)]
        if int(entry[KEY]) % 2**64 != int(key) or entry[META] >> 16 != desk.work[GENERATION]:
            break
        count = legal(state, config, moves)
        if entry[MOVE] not in moves[:count]:  # nothing, or of a position that only has the same key
            break
        found.append(int(entry[MOVE]))
    return found
