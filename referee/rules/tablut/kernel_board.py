"""The rules of Tablut on a state: number of moves, captures, and the winner on the board.

Letters: s state (layout in `state`), c config, l line, p place (bit number) on it, x file, y rank, k king's cell, m
movement word (see `kernel_line`).
"""

from __future__ import annotations

from referee.rules.jit import borrowing
from referee.rules.rules import Config, State
from referee.rules.tablut.kernel_line import (
    ALL_BASES,
    MIDDLE,
    ONLY_OCCUPIED,
    bits,
    count_line,
    goals,
    king_line,
    movement,
    ways_from,
)
from referee.rules.tablut.state import (
    ALWAYS,
    ASHTON,
    CAMP_HOSTILE,
    CUSTODIAL,
    FIRST_PLAYER,
    HOSTILE_TO_ATTACKERS,
    HOSTILE_TO_BOTH,
    HOSTILE_TO_DEFENDERS,
    KING,
    KING_ARMED,
    KING_CAPTURE,
    KING_EDGE_CAPTURE,
    LINNAEAN,
    PERPETUAL_RAICHI,
    PLY,
    QUIET,
    RAICHI,
    SIDE,
    THRONE_HOSTILE,
    THRONE_KING_HOSTILE,
    TUICHI_WINS,
)
from referee.rules.tablut.tables import BASE_FLANKS, BASES, THRONE

# The reasons of `result`, in the order of the rules and of `Rules.reasons`.
KING_CAPTURED, KING_ESCAPED, ATTACKERS_ELIMINATED, TUICHI, STUCK, REPEATED, PERPETUAL, NO_CAPTURE, TOO_LONG = range(9)

AROUND = 40  # bits 3 and 5 of the middle lines: the throne's neighbours
ARMS, POINT = 56, 16  # bits 3-5 of a border line, bit 4 of the next line: the four cells of a base


@borrowing
def live_bases(s: State, m: int) -> int:
    """Return the bases barred to the king, as an index of `BARRED`: all, or those that hold an attacker now."""
    if m & ONLY_OCCUPIED == 0:
        return ALL_BASES
    live = 0
    # West has files a and b, south ranks 1 and 2, north ranks 9 and 8, east files i and h.
    if (s[9] & ARMS) | (s[10] & POINT):
        live |= 1
    if (s[0] & ARMS) | (s[1] & POINT):
        live |= 2
    if (s[8] & ARMS) | (s[7] & POINT):
        live |= 4
    if (s[17] & ARMS) | (s[16] & POINT):
        live |= 8
    return live


@borrowing
def king_moves(s: State, m: int) -> int:
    """Return the number of the king's moves on an undecided board, whichever side is to move."""
    x, y, live = int(s[KING] // 9), int(s[KING] % 9), live_bases(s, m)
    across = king_line(y, x, int(s[y] | s[18 + y]), live, m)
    along = king_line(9 + x, y, int(s[9 + x] | s[27 + x]), live, m)
    return bits(across) + bits(along)


@borrowing
def count_moves(s: State, m: int) -> int:
    """Return the number of moves of the side to move on an undecided board."""
    side = int(s[SIDE])
    count = 0
    if side == 0:
        for l in range(18):
            own = int(s[l])
            if own != 0:
                count += count_line(l, own, own | int(s[18 + l]), 0, m)
        return count
    x, y = int(s[KING] // 9), int(s[KING] % 9)
    for l in range(18):
        own = int(s[18 + l])
        if own != 0:
            occ = own | int(s[l])
            # The king is among the defenders' bits, but moves by rules of his own.
            if l == y:
                own &= ~(1 << x)
            elif l == 9 + x:
                own &= ~(1 << y)
            count += count_line(l, own, occ, 1, m)
    return count + king_moves(s, m)


@borrowing
def has_move(s: State, m: int) -> bool:
    """Return whether the side to move has a move on an undecided board; usually one of the first soldiers has one."""
    side = int(s[SIDE])
    king = int(s[KING])
    for l in range(18):
        own, other = int(s[18 * side + l]), int(s[18 - 18 * side + l])
        if count_line(l, own & ~(king_bit(l, king) if side == 1 else 0), own | other, side, m) > 0:
            return True
    return side == 1 and king_moves(s, m) > 0


@borrowing
def free_ways_now(s: State, m: int) -> int:
    """Return the number of directions (0-4) in which the king has a move to a goal, whichever side is to move.

    Return 0 without a king.
    """
    if s[KING] < 0:
        return 0
    x, y = int(s[KING] // 9), int(s[KING] % 9)
    return ways_from(x, y, int(s[y] | s[18 + y]), int(s[9 + x] | s[27 + x]), live_bases(s, m), m)


@borrowing
def winner_code(first_player: int, reason: int, side: int) -> int:
    """Return the result code of a win of `side` (0 attackers, 1 defenders)."""
    return reason * 4 + (1 if side == first_player else 2)


@borrowing
def board_result(s: State, c: Config, m: int) -> int:
    """Return the result code that the board alone determines (the first four tests of the rules), or 0."""
    # A captured king leaves no cell behind, so this is tested before its cell is used.
    if s[KING] < 0:
        return winner_code(int(c[FIRST_PLAYER]), KING_CAPTURED, 0)
    if goals(int(s[KING] % 9), m) >> int(s[KING] // 9) & 1:
        return winner_code(int(c[FIRST_PLAYER]), KING_ESCAPED, 1)
    if not (s[0] | s[1] | s[2] | s[3] | s[4] | s[5] | s[6] | s[7] | s[8]):
        return winner_code(int(c[FIRST_PLAYER]), ATTACKERS_ELIMINATED, 1)
    # Tuichi: two open ways, both of which the attackers can hardly close with one move.
    if c[TUICHI_WINS] == 1 and s[SIDE] == 0 and free_ways_now(s, m) >= 2:
        return winner_code(int(c[FIRST_PLAYER]), TUICHI, 1)
    return 0


@borrowing
def throne_against_defenders(k: int, ring: int, empty: int, taken: int) -> int:
    """Return `MIDDLE` if attackers capture against the throne, else 0.

    `ring` is the number of attackers next to the throne; `empty` and `taken` are the values of the options
    `throne_hostile` and `throne_king_hostile`.
    """
    if k != THRONE:
        return MIDDLE if empty in (HOSTILE_TO_DEFENDERS, HOSTILE_TO_BOTH) else 0
    # The defender to be captured is on one of the throne's four neighbours, so three attackers hold all others.
    return MIDDLE if taken == ALWAYS or (taken == LINNAEAN and ring == 3) else 0


@borrowing
def king_bit(l: int, k: int) -> int:
    """Return the king's bit on line `l`; 0 if the king is not on it."""
    if l == k % 9:
        return 1 << (k // 9)
    return 1 << (k % 9) if l == 9 + k // 9 else 0


@borrowing
def is_shut(p: int, line: int, at_edge: bool) -> bool:
    """Return whether the king's neighbour `p` is among the hostile places `line`; off the board, return `at_edge`."""
    return at_edge if p < 0 or p > 8 else line >> p & 1 == 1


@borrowing
def count_shut(x: int, y: int, across: int, along: int, ashton: bool, at_edge: bool) -> int:
    """Return the number of hostile neighbours of a king on file `x`, rank `y`, as a capture by four counts them.

    `across` and `along` are the attackers on that rank and that file.
    """
    # All 16 base cells are hostile to the king, empty or not; for soldiers see `advance`.
    if ashton:
        across, along = across | int(BASES[y]), along | int(BASES[9 + x])
    if x != 4 or y != 4:  # The empty throne is hostile.
        across |= MIDDLE if y == 4 else 0
        along |= MIDDLE if x == 4 else 0
    count = 0
    if is_shut(x - 1, across, at_edge):
        count += 1
    if is_shut(x + 1, across, at_edge):
        count += 1
    if is_shut(y - 1, along, at_edge):
        count += 1
    if is_shut(y + 1, along, at_edge):
        count += 1
    return count


@borrowing
def needs_four(k: int, capture: int) -> bool:
    """Return whether a king on cell `k` is captured only by four hostile neighbours; `capture` is the option's value."""
    near = k == THRONE or k == THRONE - 9 or k == THRONE + 9 or k == THRONE - 1 or k == THRONE + 1
    return capture != CUSTODIAL or near


@borrowing
def advance(s: State, c: Config, m: int, move: int) -> None:
    """Play a move on `s` itself, with its captures and the counters."""
    start, end, side = move // 81, move % 81, int(s[SIDE])
    own, enemy = 18 * side, 18 - 18 * side
    x, y = start // 9, start % 9
    s[own + y] ^= 1 << x
    s[own + 9 + x] ^= 1 << y
    x, y = end // 9, end % 9
    s[own + y] ^= 1 << x
    s[own + 9 + x] ^= 1 << y
    is_king = s[KING] == start
    if is_king:
        s[KING] = end
    s[QUIET] += 1
    s[PLY] += 1
    s[SIDE] = 1 - side
    across, along = int(s[enemy + y]), int(s[enemy + 9 + x])
    near = (across & ((1 << x) << 1 | (1 << x) >> 1)) | (along & ((1 << y) << 1 | (1 << y) >> 1))
    # Most moves end next to no enemy: what captures depend on is read only for the others.
    if near != 0 and not (is_king and c[KING_ARMED] == 0):
        k = int(s[KING])
        ashton = c[CAMP_HOSTILE] == ASHTON
        # All captures are judged on the board right after the move, then removed together.
        if side == 0:
            throne = throne_against_defenders(
                k,
                bits(int(s[4]) & AROUND) + bits(int(s[13]) & AROUND),
                int(c[THRONE_HOSTILE]),
                int(c[THRONE_KING_HOSTILE]),
            )
            hostile_across, hostile_along = int(s[y]), int(s[9 + x])
            if ashton:
                hostile_across, hostile_along = hostile_across | int(BASES[y]), hostile_along | int(BASES[9 + x])
        else:
            hostile_across, hostile_along = int(s[18 + y]), int(s[27 + x])
            # An unarmed king is no partner for the captures of others.
            if c[KING_ARMED] == 0:
                hostile_across &= ~king_bit(y, k)
                hostile_along &= ~king_bit(9 + x, k)
            if ashton:
                # To attackers the base cells in the middle of an edge, e1 a5 i5 e9, are not hostile (`camp_hostile`).
                hostile_across |= int(BASE_FLANKS[y])
                hostile_along |= int(BASE_FLANKS[9 + x])
            against = int(c[THRONE_HOSTILE])
            throne = MIDDLE if k != THRONE and against in (HOSTILE_TO_ATTACKERS, HOSTILE_TO_BOTH) else 0
        # Judged once before any capture: all captures of a move are simultaneous.
        kings_fate = 0  # 1: captured by four neighbours, 2: by two, 0: not captured by neighbours
        if side == 0:
            if needs_four(k, int(c[KING_CAPTURE])):
                kx, ky = k // 9, k % 9
                if count_shut(kx, ky, int(s[ky]), int(s[9 + kx]), ashton, c[KING_EDGE_CAPTURE] == 1) == 4:
                    kings_fate = 1
            else:
                kings_fate = 2
        taken = 0
        for way in range(4):
            turn, step = way >> 1, 1 - 2 * (way & 1)
            p = (y if turn else x) + step
            line = along if turn else across
            if p < 0 or p > 8 or not line >> p & 1:
                continue
            cell = end + (step if turn else 9 * step)
            hostile = hostile_along if turn else hostile_across
            if side == 0 and cell == k:
                if kings_fate == 1:
                    taken |= 1 << way
                    continue
                if kings_fate == 0:
                    continue
            # Only the middle lines have the throne.
            elif (x if turn else y) == 4:
                hostile |= throne
            if 0 <= p + step <= 8 and hostile >> (p + step) & 1:
                taken |= 1 << way
        for way in range(4):
            if taken >> way & 1:
                step = 1 - 2 * (way & 1)
                cell = end + (step if way >> 1 else 9 * step)
                s[enemy + cell % 9] ^= 1 << (cell // 9)
                s[enemy + 9 + cell // 9] ^= 1 << (cell % 9)
                if cell == k:
                    s[KING] = -1
                s[QUIET] = 0
    if c[PERPETUAL_RAICHI] == 1 and side == 1:
        s[RAICHI] = s[RAICHI] + 1 if free_ways_now(s, m) > 0 else 0


@borrowing
def free_ways(state: State, config: Config) -> int:
    """Return the number of directions (0-4) in which the king has a move to a goal, whichever side is to move."""
    return free_ways_now(state, movement(config))
