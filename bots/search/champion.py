"""The strongest search here, over one family's kernel: alpha-beta that trusts a learned score and cuts by it.

Built on `alphabeta` (digests, repetitions, ends, what cut before); what it adds to that: a learned score, or a learned
correction of the static one, a table of two tiers, null moves, cuts by the static score, reductions that grow with
depth and number, and replies that refuted the same move before. Which of these a family uses stands with its weights.

Several may search the same position at once, each at a desk of its own with the same table (`join`): what one finds out
the others need not. Entries are written and read without asking, so one may be half of this and half of that; its KEY
is the digest XOR all the rest, and such an entry is nobody's.

What both do alike is a function of `alphabeta`. Ranking, table and negamax are not: as one with switches off, the plain
search would compile for as long as this does, which is twice as long, carry a net through every call, and no longer be
read beside a textbook's.

Loaded once per family (see the package). A search is a pure function of the position, its history, the limits, the net
and the table.
"""

# ruff: noqa: PLR0917 - the compiled functions call each other by position alone
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from bots.search import search
from bots.search.net import (
    BIAS,
    DROP,
    ELEMENT,
    ERROR,
    EVEN,
    FIRST_COLUMN,
    FIRST_LINE,
    FIRST_PRICE,
    HEAD,
    HIDDEN,
    IS_BOARD,
    LATE,
    LATE_FROM,
    LEAVE,
    MOVER,
    MOVER_BIT,
    NET,
    ONE,
    PASS,
    PRICES,
    REST,
    SEEN_FROM,
    SETTLE,
    SKIM,
    STRIDE,
    TECHNIQUES,
    TEMPO,
    TRAITS,
    WINDOW,
    Net,
)
from referee.rules.jit import ctz, jit
from referee.rules.per_family import family_of, kernel_for
from referee.rules.rules import Config, LinearFeatures, State, Tactics

F = TypeVar("F", bound=Callable[..., Any])

_kernel, _folder = kernel_for(__name__)
_plain = search("alphabeta", family_of(__name__))
legal, play, result, evaluate = _kernel.legal, _kernel.play, _kernel.result, _kernel.evaluate
visit, ended, cell_of, put_first, take_best = (
    _plain.visit,
    _plain.ended,
    _plain.cell_of,
    _plain.put_first,
    _plain.take_best,
)
out_of_nodes, is_forced, key_of, order_moves = _plain.out_of_nodes, _plain.is_forced, _plain.key_of, _plain.order_moves
digest = _plain.digest


def compiled(function: F) -> F:
    """`jit`, with a cache that a change of the kernel makes stale."""
    return jit(function, also=(_folder,), borrows=True)


def inlined(function: F) -> F:
    """The same for what is called for every position, with a whole desk."""
    return jit(function, also=(_folder,), borrows=True, inlined=True)


@compiled
def takes_nothing(state: State, config: Config, prices: Any, moves: Any, gains: Any) -> int:
    """Stands for `Tactics.captures` in families that have none."""
    return 0


@compiled
def static_score(state: State, config: Config, prices: Any) -> int:
    """Stands for `Tactics.quiet_eval` in families that have none."""
    return evaluate(state, config)


@compiled
def is_quiet(state: State, config: Config) -> bool:
    """Stands for `Tactics.in_check` in families that have none."""
    return False


@compiled
def has_none(state: State, config: Config, found: Any) -> int:
    """Stands for `LinearFeatures.linear_features` in families that have none."""
    return 0


TELLS = hasattr(_kernel, "captures")
"""Whether the kernel brings `referee.rules.rules.Tactics`."""
_tactics = cast(Tactics, _kernel)
captures: Any = _tactics.captures if TELLS else takes_nothing
quiet_eval: Any = _tactics.quiet_eval if TELLS else static_score
in_check: Any = _tactics.in_check if TELLS else is_quiet

HAS_TRAITS = hasattr(_kernel, "linear_features")
"""Whether the kernel brings `referee.rules.rules.LinearFeatures`."""
traits: Any = cast(LinearFeatures, _kernel).linear_features if HAS_TRAITS else has_none

MAX_DEPTH, MAX_LINE = _plain.MAX_DEPTH, _plain.MAX_LINE
NOUGHT, ONCE, KEY_SIZE, STATE_SIZE = _plain.NOUGHT, _plain.ONCE, _plain.KEY_SIZE, _plain.STATE_SIZE
WIN, SURE, INFINITE, AT_HAND = _plain.WIN, _plain.SURE, _plain.INFINITE, _plain.AT_HAND
PLACE, PLACES, UNSEEN, ENDED = _plain.PLACE, _plain.PLACES, _plain.UNSEEN, _plain.ENDED
HISTORY, FORCED, DEPTHS = _plain.HISTORY, _plain.FORCED, _plain.DEPTHS
EXACT, LOWER, UPPER = _plain.EXACT, _plain.LOWER, _plain.UPPER
STATIC, PATH, KILLER, SECOND_KILLER = _plain.STATIC, _plain.PATH, _plain.KILLER, _plain.SECOND_KILLER
MOVES, RANKS, SEEN = _plain.MOVES, _plain.RANKS, _plain.SEEN
YES: Any = np.bool_(True)
"""For a bare True numba would compile a second version of what it is given to: see `alphabeta.NOUGHT`."""
KEY, MOVE, VALUE, META = _plain.KEY, _plain.MOVE, _plain.VALUE, _plain.META

NODES, LIMIT, STOP, ABORTED, BEST, SCORE, ROOT, SIDE, GENERATION, CONTEMPT, NOMINAL = range(11)
AGE, NOISE, SEED = 11, 12, 13
"""`work`, besides what alpha-beta keeps there: the number of this search, by which old entries give way; by how much a
move at the root may be misjudged, and by which lot."""
WORK_SIZE = 16

OLD, BORN = 16, 24
"""META is generation << 24 | age << 16 | forced << 15 | depth << 2 | bound."""


class Desk(NamedTuple):
    """The desk of alpha-beta, and the net."""

    work: npt.NDArray[np.int64]
    states: npt.NDArray[Any]
    keys: npt.NDArray[np.uint64]
    line: npt.NDArray[np.uint64]
    plies: npt.NDArray[np.int64]
    history: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]
    sums: npt.NDArray[np.int32]
    """[ply, unit]: the net's first layer."""
    rows: npt.NDArray[np.int32]
    """The net's weights, see `Net`."""
    maps: npt.NDArray[np.int64]
    """Where a state's elements have their rows, see `Net`."""


LOW, HIGH, STAND, TOP, FOUND, TRIED = range(SEEN, SEEN + 6)
"""Columns of `plies` in `settle`: the window, the score without a move, the best one, how many moves there are and how
many were tried."""
_depths, _numbers = np.ogrid[: MAX_DEPTH + 2, :256]
TRAITS_AT: Any = np.int64(MAX_DEPTH + 1)
"""The row of `plies` that holds the traits of a position that is judged."""
UNITS = np.uint64(HIDDEN)
GRAIN = 4
"""What a trait is worth is kept in sixteenths of a hundredth of a piece."""
LESS = (np.log(np.maximum(_depths, 1)) * np.log(np.maximum(_numbers, 1)) / 2.2).astype(np.int64)
"""[depth, number of the move]: by how many plies it is looked at less deeply."""
DEEPEST_CUT = 4
"""Up to this depth a position is left, or a move passed over, for its static score."""
SETTLED = 4
"""So many moves that take something are looked at behind the leaves."""
HOPE = 100
"""What a move that takes something may bring beyond what it takes."""
FAR, FAR_DEPTH = 150, 2
"""Who is behind by so much for each ply, up to this depth, gets on by taking something or not at all."""
VERY_LATE = 16
"""From this move of a position on it is two plies less, where the leaves are settled."""


def new_desk(table_bytes: int, net: Net) -> Desk:
    """A desk whose table takes about `table_bytes`."""
    sums = np.zeros((MAX_DEPTH + 2, HIDDEN), dtype=np.int32)
    maps = net.maps
    if not HAS_TRAITS or net.rows.size < cast(LinearFeatures, _kernel).LINEAR_FEATURE_COUNT:
        maps[0, TECHNIQUES] &= ~TRAITS
    if TELLS and maps[0, TECHNIQUES] & PRICES == 0:
        maps[0, FIRST_PRICE : FIRST_PRICE + _tactics.PIECE_VALUES.size] = _tactics.PIECE_VALUES
    return Desk(**_plain.new_desk(table_bytes)._asdict(), sums=sums, rows=net.rows, maps=maps)


def new_place(desk: Desk) -> Desk:
    """A desk for one more that searches with the same table and net."""
    own = {name: np.zeros_like(getattr(desk, name)) for name in Desk._fields if name not in ("table", "rows", "maps")}
    return desk._replace(**own)


def join(place: Desk, desk: Desk) -> None:
    """Lay out at a `new_place` of a desk the search that was begun there (`begin`)."""
    place.work[:], place.line[:], place.history[:] = desk.work, desk.line, desk.history
    place.states[0], place.keys[0], place.sums[0] = desk.states[0], desk.keys[0], desk.sums[0]
    place.plies[:, :MOVES] = desk.plies[:, :MOVES]


@compiled
def add_rows(sums: Any, rows: Any, maps: Any, line: int, bits: Any, further: int, sign: int) -> None:
    """Add the rows of the bits of a board to the sums, or take them off; they are so many rows `further` on."""
    while bits != 0:
        row = further + maps[line, FIRST_COLUMN + ctz(bits)]
        bits &= bits - np.uint64(1)
        for unit in range(HIDDEN):
            sums[unit] += np.int32(sign) * rows[row, unit]


@compiled
def row_of(maps: Any, line: int, value: Any) -> int:
    """The row of a number's value."""
    last = maps.shape[1] - 1
    column = FIRST_COLUMN + value
    return maps[line, last if value < 0 or column > last else column]  # type: ignore[no-any-return]


@compiled
def sum_up(sums: Any, rows: Any, maps: Any, state: State) -> None:
    """The net's first layer for a state."""
    further = maps[0, STRIDE] * np.int64(state[maps[0, SEEN_FROM]])
    for unit in range(HIDDEN):
        sums[unit] = rows[BIAS, unit]
    for line in range(FIRST_LINE, maps.shape[0]):
        element = maps[line, ELEMENT]
        if maps[line, IS_BOARD] != 0:
            add_rows(sums, rows, maps, line, np.uint64(state[element]), further, ONCE)
        else:
            row = row_of(maps, line, np.int64(state[element]))
            for unit in range(HIDDEN):
                sums[unit] += rows[row, unit]


@compiled
def sum_on(desk: Desk, ply: int) -> None:
    """The same for `states[ply]`, from that of the ply before."""
    sums, rows, maps = desk.sums[ply], desk.rows, desk.maps
    before, state = desk.states[ply - 1], desk.states[ply]
    earlier, seen_from = desk.sums[ply - 1], maps[0, SEEN_FROM]
    further = maps[0, STRIDE] * np.int64(state[seen_from])
    if maps[0, STRIDE] != 0 and before[seen_from] != state[seen_from]:
        sum_up(sums, rows, maps, state)
        return
    for unit in range(HIDDEN):
        sums[unit] = earlier[unit]
    for line in range(FIRST_LINE, maps.shape[0]):
        element = maps[line, ELEMENT]
        if before[element] == state[element]:
            continue
        if maps[line, IS_BOARD] != 0:
            was, now = np.uint64(before[element]), np.uint64(state[element])
            add_rows(sums, rows, maps, line, was & ~now, further, -ONCE)
            add_rows(sums, rows, maps, line, now & ~was, further, ONCE)
        else:
            gone = row_of(maps, line, np.int64(before[element]))
            come = row_of(maps, line, np.int64(state[element]))
            for unit in range(HIDDEN):
                sums[unit] += rows[come, unit] - rows[gone, unit]


@compiled
def corrected(rows: Any, maps: Any, sums: Any, state: State, score: Any) -> Any:
    """The static score of a state with the net's correction, for the side to move."""
    if score >= AT_HAND or score <= -AT_HAND:
        return score
    is_second = np.int64(state[maps[0, MOVER]]) & maps[0, MOVER_BIT] != 0
    head, total = HEAD + is_second, NOUGHT
    for unit in range(HIDDEN):
        total += min(max(np.int64(sums[unit]), 0), ONE) * rows[head, unit]
    total >>= 16
    score += -total if is_second else total
    return min(max(score, 1 - AT_HAND), AT_HAND - 1)


@inlined
def weigh(desk: Desk, ply: int, config: Config) -> Any:
    """The sum of what the traits of `states[ply]` are worth."""
    found = desk.plies[TRAITS_AT]
    count = traits(desk.states[ply], config, found)
    if count < 0:
        return AT_HAND
    total = NOUGHT
    for i in range(count):
        at = np.uint64(found[i])
        total += np.int64(desk.rows[at // UNITS, at % UNITS])
    return min(max(total >> GRAIN, 1 - AT_HAND), AT_HAND - 1)


@inlined
def judge(desk: Desk, ply: int, config: Config) -> Any:
    """The static score of `states[ply]` without a net's correction."""
    if HAS_TRAITS and desk.maps[0, TECHNIQUES] & (TRAITS | SETTLE) == TRAITS:
        return weigh(desk, ply, config)
    return evaluate(desk.states[ply], config)


@inlined
def calm(desk: Desk, ply: int, config: Config) -> Any:
    """The static score of `states[ply]` when nothing more is taken."""
    if HAS_TRAITS and desk.maps[0, TECHNIQUES] & TRAITS != 0:
        return weigh(desk, ply, config)
    return quiet_eval(desk.states[ply], config, desk.maps[0, FIRST_PRICE:])


@inlined
def look(desk: Desk, config: Config, ply: int, seen: int) -> Any:
    """Judge the position of `ply`, where the game goes on; `seen` is the family's own static score, or UNSEEN."""
    score = judge(desk, ply, config) if seen == UNSEEN else seen
    if desk.maps[0, TECHNIQUES] & NET != 0:
        sum_on(desk, ply)
        score = corrected(desk.rows, desk.maps, desk.sums[ply], desk.states[ply], score)
    if -AT_HAND < score < AT_HAND:
        score = min(max(score + desk.maps[0, TEMPO], 1 - AT_HAND), AT_HAND - 1)
    desk.plies[ply, STATIC] = score
    return score


@compiled
def find(desk: Desk, ply: int) -> tuple[int, int, int]:
    """What the table holds for `ply`: move, value and META, which is -1 for nothing."""
    slot, key = np.int64(desk.keys[ply] & np.uint64(desk.table.shape[0] - 2)), np.int64(desk.keys[ply])
    for at in range(slot, slot + 2):
        move, value, meta = desk.table[at, MOVE], desk.table[at, VALUE], desk.table[at, META]
        if desk.table[at, KEY] ^ move ^ value ^ meta == key and meta >> BORN == desk.work[GENERATION]:
            return move, value, meta
    return NOUGHT, NOUGHT, -ONCE


@compiled
def store(desk: Desk, ply: int, depth: int, forced: int, move: int, score: int, alpha: int, beta: int) -> None:
    """Remember what was found out about `ply`: in place of what is shallower or older, else beside it."""
    work, table = desk.work, desk.table
    slot = np.int64(desk.keys[ply] & np.uint64(table.shape[0] - 2))
    key = np.int64(desk.keys[ply])
    meta = table[slot, META]
    is_current = meta >> BORN == work[GENERATION] and (meta >> OLD & 255) == work[AGE] & 255
    held = table[slot, KEY] ^ table[slot, MOVE] ^ table[slot, VALUE] ^ meta
    if held != key and is_current and (meta >> 2 & DEPTHS) > depth:
        slot += 1
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
    meta = work[GENERATION] << BORN | (work[AGE] & 255) << OLD | forced | depth << 2 | bound
    table[slot, KEY], table[slot, MOVE] = key ^ move ^ value ^ meta, move
    table[slot, VALUE], table[slot, META] = value, meta


@compiled
def do_nothing(desk: Desk, config: Config, ply: int) -> bool:
    """Put into `ply + 1` what follows when the side to move does nothing; whether the game goes on there."""
    element, bit = desk.maps[0, MOVER], desk.maps[0, MOVER_BIT]
    state = desk.states[ply + 1]
    for i in range(STATE_SIZE):
        state[i] = desk.states[ply, i]
    if np.int64(state[element]) & ~bit != 0:  # a phase of its own
        return False
    state[element] = np.int64(state[element]) ^ bit
    desk.plies[ply + 1, PATH] = -1
    return visit(desk, config, ply + 1, UNSEEN, YES) == 0  # type: ignore[no-any-return]


@compiled
def take_dearest(moves: Any, gains: Any, i: int, found: int) -> int:
    """Bring what gains most of `i..found-1` to place `i`; of equal gains the lower move comes first."""
    best = i
    for j in range(i + 1, found):
        if gains[j] > gains[best] or (gains[j] == gains[best] and moves[j] < moves[best]):
            best = j
    moves[i], moves[best] = moves[best], moves[i]
    gains[i], gains[best] = gains[best], gains[i]
    return moves[i]  # type: ignore[no-any-return]


@compiled
def settle(desk: Desk, config: Config, ply: int, alpha: int, beta: int) -> int:
    """The score of `states[ply]` for the side to move, who may stop there or take something, and so on in turn.

    A loop in place of a recursion: two recursive functions, one in the other, do not survive the disk cache.
    """
    work, p, is_known, value = desk.work, ply, False, NOUGHT
    desk.plies[p, LOW], desk.plies[p, HIGH] = alpha, beta
    while True:
        here = desk.plies[p]
        moves, gains = here[MOVES:RANKS], here[RANKS:SEEN]
        if not is_known:  # just arrived
            if p - ply >= SETTLED or p + 1 >= MAX_DEPTH:
                value, is_known = calm(desk, p, config) + desk.maps[0, TEMPO], True
            else:
                value = calm(desk, p, config) + desk.maps[0, TEMPO]
                is_known = value >= here[HIGH]
                here[STAND], here[TOP], here[TRIED] = value, value, 0
                if not is_known:
                    here[FOUND] = captures(desk.states[p], config, desk.maps[0, FIRST_PRICE:], moves, gains)
        if is_known:
            if p == ply:
                return value  # type: ignore[no-any-return]
            p -= 1
            here = desk.plies[p]
            moves, gains = here[MOVES:RANKS], here[RANKS:SEEN]
            here[TOP] = max(here[TOP], -value)
        i, floor = here[TRIED], max(here[LOW], here[TOP])
        value, is_known = here[TOP], True
        if i < here[FOUND] and value < here[HIGH]:
            move = take_dearest(moves, gains, i, here[FOUND])
            if here[STAND] + gains[i] + HOPE > here[LOW]:
                if out_of_nodes(work):
                    return 0
                play(desk.states[p], config, move, desk.states[p + 1])
                work[NODES] += 1
                here[TRIED] += 1
                p += 1
                desk.plies[p, LOW], desk.plies[p, HIGH], is_known = -here[HIGH], -floor, False


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
            row[SEEN + i] = judge(desk, ply + 1, config)
            rank = (row[RANKS + i] >> PLACE) // 50 - row[SEEN + i]
        else:
            row[SEEN + i] = ENDED + code
            rank = 10 * ended(work, code, side, NOUGHT)
        row[RANKS + i] = rank << PLACE | PLACES - RANKS - i


@compiled
def misjudged(work: Any, move: int) -> int:
    """By how much a move at the root is misjudged on purpose: -NOISE..NOISE, the same for the same lot."""
    drawn = (np.uint64(move) ^ np.uint64(work[SEED])) * np.uint64(0x9E3779B97F4A7C15)
    drawn = (drawn ^ (drawn >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(drawn >> np.uint64(33)) % (2 * work[NOISE] + 1) - work[NOISE]  # type: ignore[no-any-return]


@compiled
def negamax(  # noqa: C901, PLR0911, PLR0912, PLR0915 - a kernel: compiled as one, read beside the textbook's
    desk: Desk, config: Config, ply: int, depth: int, alpha: int, beta: int, may_rest: int
) -> int:
    """The score of `states[ply]`, where the game goes on, for the side to move, `depth` > 0 plies deep.

    Fail-soft within alpha..beta. `may_rest`: 0 behind a null move. Meaningless when `work[ABORTED]` is set.
    """
    work = desk.work
    error, techniques = desk.maps[0, ERROR], desk.maps[0, TECHNIQUES]
    first, forced = -1, 0
    is_open = beta - alpha > 1
    if ply == 0:
        first = work[BEST]
    else:
        move, value, meta = find(desk, ply)
        if meta >= 0:
            first, forced = move, meta & FORCED
            if meta >> 2 & DEPTHS >= depth:
                bound = meta & 3
                if value > SURE:
                    value -= ply
                elif value < -SURE:
                    value += ply
                if bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha):
                    return value
    static = desk.plies[ply, STATIC]
    is_calm = ply > 0 and not is_open and forced == 0 and alpha > -SURE and beta < SURE and abs(static) < AT_HAND
    if is_calm and techniques & LEAVE != 0 and depth <= DEEPEST_CUT and static - error * (depth + 1) // 2 >= beta:
        return static  # type: ignore[no-any-return]
    if is_calm and techniques & DROP != 0 and depth == 1 and static + error <= alpha:
        return static  # type: ignore[no-any-return]
    skims = is_calm and techniques & SKIM != 0 and depth == 1
    if skims and static - error >= beta:
        return static  # type: ignore[no-any-return]
    skims = skims and static + error <= alpha
    settles = TELLS and techniques & SETTLE != 0
    if is_calm and settles:
        is_calm = not in_check(desk.states[ply], config)
        static = calm(desk, ply, config)
        if is_calm and depth <= FAR_DEPTH and static + FAR * depth <= alpha:
            score = settle(desk, config, ply, alpha, beta)
            if work[ABORTED] != 0 or score <= alpha:
                return score
    if (
        is_calm
        and techniques & REST != 0
        and may_rest != 0
        and (depth >= 3 or settles)
        and static >= beta
        and ply + 2 < MAX_DEPTH
        and do_nothing(desk, config, ply)
    ):
        work[NODES] += 1
        rest = depth - 3 - (depth >= 7)
        if settles and rest <= 0:
            score = -settle(desk, config, ply + 1, -beta, 1 - beta)
        else:
            score = -look(desk, config, ply + 1, UNSEEN)
        if score > -AT_HAND:
            if rest > 0:
                score = -negamax(desk, config, ply + 1, rest, -beta, 1 - beta, NOUGHT)
            if work[ABORTED] != 0:
                return 0
            if score >= beta:
                return beta
    moves, row = desk.plies[ply, MOVES:RANKS], desk.plies[ply]
    found = legal(desk.states[ply], config, moves)
    if found == 0:
        return static  # type: ignore[no-any-return]
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
        at, rank, seen = RANKS + i, NOUGHT, UNSEEN
        if i >= placed:
            best_left = take_best(row, RANKS + placed, RANKS + found)
            at, rank = PLACES - (best_left & PLACES), best_left >> PLACE
            if looks:
                seen = row[at + SEEN - RANKS]
        move = row[at + MOVES - RANKS]
        if forced != 0 and depth >= 2 and ply < 2 * work[NOMINAL] and ply + depth < MAX_DEPTH:
            deeper = 1
        if (
            is_calm
            and techniques & PASS != 0
            and looks
            and i > 2
            and forced == 0
            and depth <= DEEPEST_CUT
            and best > -SURE
            and rank - desk.maps[0, TEMPO] + error * depth // 2 <= alpha
        ):
            break  # they come in the order of how they look: none of the rest looks better
        late = 0
        if techniques & (LATE | EVEN) != 0 and depth >= 3 and i >= desk.maps[0, LATE_FROM] and forced == 0:
            late = LESS[depth, min(i, 255)]
            if is_open:
                late -= 1
            if techniques & EVEN != 0:
                late &= ~1
            late = max(min(late, depth - 2), 0)
        elif techniques & (LATE | EVEN) == 0 and depth >= 3 and i >= desk.maps[0, LATE_FROM]:
            late = 2 if settles and depth >= 4 and i >= VERY_LATE and not is_open else 1
        more = deeper
        play(desk.states[ply], config, move, desk.states[ply + 1])
        work[NODES] += 1
        desk.plies[ply + 1, PATH] = move
        if skims:
            code, judged = result(desk.states[ply + 1], config, ONCE, NOUGHT), -static
        else:
            code = visit(desk, config, ply + 1, seen, settles or depth > 1)
            if settles and depth == 1 and code == 0 and ply < 2 * work[NOMINAL]:
                more = int(in_check(desk.states[ply + 1], config))
            judged = 0 if code != 0 or (settles and depth + more <= 1) else look(desk, config, ply + 1, seen)
        noise = misjudged(work, move) if ply == 0 and work[NOISE] > 0 else 0
        low, high = alpha - noise, beta - noise
        if code != 0:
            score = ended(work, code, side, ply + 1)
        elif judged >= AT_HAND:
            score = ply + 2 - WIN
        elif settles and depth + more <= 1:
            score = -settle(desk, config, ply + 1, -high, -low)
        elif depth <= 1 - more or ply + 1 >= MAX_DEPTH - 1:
            score = -judged
        elif i == 0:
            score = -negamax(desk, config, ply + 1, depth - 1 + more, -high, -low, ONCE)
        else:
            # Late moves are looked at less deeply first; one that surprises is looked at again.
            score = -negamax(desk, config, ply + 1, depth - 1 + more - late, -low - 1, -low, ONCE)
            if score > low and work[ABORTED] == 0 and (late > 0 or score < high):
                score = -negamax(desk, config, ply + 1, depth - 1 + more, -high, -low, ONCE)
        if work[ABORTED] != 0:
            return 0
        if -SURE < score < SURE:
            score += noise
        if score > best:
            best, best_move = score, move
            if ply == 0 and (score > floor or i == 0):
                work[BEST], work[SCORE] = move, score
        alpha = max(alpha, score)
        if best == WIN - ply - 1:  # nothing is better than winning now
            break
        if alpha >= beta:
            if desk.plies[ply, KILLER] != move:
                desk.plies[ply, SECOND_KILLER] = desk.plies[ply, KILLER]
                desk.plies[ply, KILLER] = move
            desk.history[side, cell_of(move)] += depth * depth
            if ply > 0 and desk.plies[ply, PATH] >= 0:
                desk.history[2 + side, cell_of(desk.plies[ply, PATH])] = move
            break
    store(desk, ply, depth, forced, best_move, best, floor, beta)
    return best  # type: ignore[no-any-return]


def begin(desk: Desk, earlier: npt.NDArray[np.uint64], root: State, config: Config, side: int, first: int) -> None:
    """Lay out a search of `root`, with `side` (0 first, 1 second) to move and `first` a legal move.

    `earlier` holds the digests (see `key_of`) of the game before.
    """
    _plain.begin(desk, earlier, root, side, first)
    desk.work[AGE] += 1
    sum_up(desk.sums[0], desk.rows, desk.maps, desk.states[0])


def deepen(desk: Desk, config: Config, depth: int) -> None:
    """One iteration. `work[BEST]` and `work[SCORE]` hold the best so far, `work[ABORTED]` whether it was cut short.

    From depth 4 on it looks first in a window around the last score. Not compiled: see `alphabeta.NOUGHT`.
    """
    work = desk.work
    work[NOMINAL] = depth
    middle, wide = int(work[SCORE]), 2 * int(desk.maps[0, ERROR])
    low, high = -INFINITE, INFINITE
    if depth >= 4 and abs(middle) < SURE and desk.maps[0, TECHNIQUES] & WINDOW and not work[NOISE]:
        low, high = middle - wide, middle + wide
    while True:
        score = negamax(desk, config, 0, depth, low, high, 0)
        if work[ABORTED] or low < score < high:
            return
        wide *= 4
        if score <= low:
            low = score - wide if abs(score) < SURE else -INFINITE
        else:
            high = score + wide if abs(score) < SURE else INFINITE


def variation(desk: Desk, config: Config, most: int) -> list[int]:
    """The line expected: the best move, then what the table holds for the positions behind it, `most` moves at most."""
    state, line = desk.states[0].copy(), [int(desk.work[BEST])]
    moves = np.zeros(_kernel.MAX_MOVES, dtype=np.int64)
    while len(line) < most:
        after = np.zeros_like(state)
        play(state, config, line[-1], after)
        state = after
        desk.keys[1] = digest(state, KEY_SIZE, STATE_SIZE, np.uint64(key_of(state)))
        move, _, meta = find(desk, 1)
        count = legal(state, config, moves)
        if meta < 0 or move not in moves[:count]:  # nothing, or of a position with the same key
            break
        line.append(int(move))
    return line
