"""The rules of Tablut on a state: who sees what, who is captured, how many moves there are, who has won on the board.

A state is 41 int32:

    0..17   attackers' bits of the 18 lines (ranks 1-9: bit = file; files a-i: bit = rank)
    18..35  defenders' bits of the same lines, the king among them
    36      the king's cell (file * 9 + rank), -1 when captured
    37      side to move: 0 attackers, 1 defenders
    38..40  counters: plies since the last capture, plies played, and (only under `perpetual_raichi`) how many
            of the latest attackers-to-move positions in a row left the king a free way

Letters: s state, c config, l line, p place (bit number) on it, x file, y rank. Refuses to know search and history.
"""

from __future__ import annotations

import numpy as np

from referee.games.tablut.cells import THRONE
from referee.games.tablut.config import (
    ALWAYS,
    ASHTON,
    CAMP_ENTRY,
    CAMP_HOSTILE,
    CLOSED,
    CUSTODIAL,
    FIRST_PLAYER,
    FORBIDDEN,
    GOAL,
    HOSTILE_TO_ATTACKERS,
    HOSTILE_TO_BOTH,
    HOSTILE_TO_DEFENDERS,
    KING_ARMED,
    KING_BASES,
    KING_BASES_WHEN,
    KING_CAPTURE,
    KING_EDGE_CAPTURE,
    KING_MAX_STEP,
    KING_REENTER,
    LINNAEAN,
    OCCUPIED,
    PASS_ALL,
    PASS_NONE,
    PERPETUAL_RAICHI,
    THRONE_HOSTILE,
    THRONE_KING_HOSTILE,
    THRONE_PASS,
    TUICHI_WINS,
)
from referee.games.tablut.tables import (
    BASE_BY_GROUP,
    BASE_FLANKS,
    BASES,
    GOALS,
    OWN_BASE,
    PASSING,
    SIGHT,
    SLIDES,
    STEPS,
    TERNARY,
)
from referee.jit import jit, popcount
from referee.rules import Config, State

KING, SIDE, QUIET, PLY, RAICHI = 36, 37, 38, 39, 40
STATE_SIZE, KEY_SIZE = 41, 38

# The reasons of `result`, in the order of the rules and of `Rules.reasons`.
KING_CAPTURED, KING_ESCAPED, ATTACKERS_ELIMINATED, TUICHI, STUCK, REPEATED, PERPETUAL, NO_CAPTURE, TOO_LONG = range(9)

MIDDLE = 16  # bit 4: the throne on rank 5 (line 4) and file e (line 13)
AROUND = 40  # bits 3 and 5: its neighbours


@jit
def bits(b: int) -> int:
    """The number of one bits of a line."""
    return popcount(np.uint64(b))  # type: ignore[no-any-return]


@jit
def king_reach(s: State, c: Config, l: int, p: int) -> int:
    """The places of line `l` a king on place `p` may move to, under every option about the king."""
    walls = int(s[l] | s[18 + l])
    shut = walls
    if l == 4 or l == 13:
        if c[KING_REENTER] == 0:
            shut |= MIDDLE
        if c[THRONE_PASS] == PASS_NONE:
            walls |= MIDDLE
    if c[CAMP_ENTRY] == CLOSED:
        walls |= int(BASES[l])
        shut |= int(BASES[l])
    elif c[KING_BASES] != 0:
        bases = int(BASES[l])
        if c[KING_BASES_WHEN] == OCCUPIED:
            bases = occupied_bases(s, l)
        shut |= bases
        if c[KING_BASES] == FORBIDDEN:
            walls |= bases
    return int(SIGHT[p * 512 + walls]) & ~shut & int(STEPS[c[KING_MAX_STEP] * 9 + p])


@jit
def occupied_bases(s: State, l: int) -> int:
    """The bits of line `l` in bases that hold an attacker now."""
    found = 0
    for group in range(4):
        here = int(BASE_BY_GROUP[group * 18 + l])
        if here != 0:
            for y in range(9):
                if s[y] & BASE_BY_GROUP[group * 18 + y]:
                    found |= here
                    break
    return found


@jit
def soldier_reach(s: State, c: Config, l: int, p: int, side: int) -> int:
    """The places of line `l` a soldier of `side` on place `p` may move to."""
    walls = int(s[l] | s[18 + l])
    shut = 0
    if l == 4 or l == 13:
        shut = MIDDLE
        if c[THRONE_PASS] != PASS_ALL:
            walls |= MIDDLE
    if c[CAMP_ENTRY] == CLOSED:
        bases = int(BASES[l])
        if side == 0:
            bases &= ~int(OWN_BASE[l * 9 + p])
        walls |= bases
    return int(SIGHT[p * 512 + walls]) & ~(walls | shut)


@jit
def line_moves(s: State, c: Config, l: int, side: int) -> int:
    """How many moves the soldiers of `side` have along line `l`."""
    own = int(s[18 * side + l])
    if side == 1 and s[KING] >= 0:
        if l == s[KING] % 9:
            own &= ~(1 << int(s[KING] // 9))
        elif l == 9 + s[KING] // 9:
            own &= ~(1 << int(s[KING] % 9))
    if own == 0:
        return 0
    walls = int(s[l] | s[18 + l]) & ~own
    half = 0
    if l == 4 or l == 13:
        if c[THRONE_PASS] == PASS_ALL and s[KING] != THRONE:
            half = PASSING
        else:
            walls |= MIDDLE
    found = 0
    if c[CAMP_ENTRY] == CLOSED:
        inside = own & int(BASES[l])
        if inside != 0:
            for p in range(9):
                if inside >> p & 1:
                    found += bits(soldier_reach(s, c, l, p, side))
            own &= ~inside
        walls |= int(BASES[l])
    return found + int(SLIDES[half + int(TERNARY[own]) + 2 * int(TERNARY[walls])])


@jit
def king_moves(s: State, c: Config) -> int:
    """How many moves the king has."""
    x, y = int(s[KING] // 9), int(s[KING] % 9)
    return bits(king_reach(s, c, y, x)) + bits(king_reach(s, c, 9 + x, y))


@jit
def count_moves(s: State, c: Config) -> int:
    """The number of moves of the side to move on a board that decides nothing."""
    side = int(s[SIDE])
    found = 0
    for l in range(18):
        if s[18 * side + l] != 0:
            found += line_moves(s, c, l, side)
    if side == 1:
        found += king_moves(s, c)
    return found


@jit
def ways_from(s: State, c: Config, x: int, y: int) -> int:
    """In how many directions a king on file `x`, rank `y` has a move to a goal."""
    across = king_reach(s, c, y, x) & int(GOALS[c[GOAL] * 18 + y])
    along = king_reach(s, c, 9 + x, y) & int(GOALS[c[GOAL] * 18 + 9 + x])
    left, below = (1 << x) - 1, (1 << y) - 1
    ways = 0
    if across & left:
        ways += 1
    if across & ~left:
        ways += 1
    if along & below:
        ways += 1
    if along & ~below:
        ways += 1
    return ways


@jit
def free_ways(s: State, c: Config) -> int:
    """In how many directions (0-4) the king has a move to a goal, whoever is to move; 0 without a king."""
    if s[KING] < 0:
        return 0
    return ways_from(s, c, int(s[KING] // 9), int(s[KING] % 9))


@jit
def winner_code(c: Config, reason: int, side: int) -> int:
    """The result code of a win of `side` (0 attackers, 1 defenders)."""
    return reason * 4 + (1 if side == c[FIRST_PLAYER] else 2)


@jit
def board_result(s: State, c: Config) -> int:
    """The result code of what the board alone decides (the first four tests of the rules), 0 when it decides nothing."""
    if s[KING] < 0:
        return winner_code(c, KING_CAPTURED, 0)
    if GOALS[c[GOAL] * 18 + s[KING] % 9] >> (s[KING] // 9) & 1:
        return winner_code(c, KING_ESCAPED, 1)
    if not (s[0] | s[1] | s[2] | s[3] | s[4] | s[5] | s[6] | s[7] | s[8]):
        return winner_code(c, ATTACKERS_ELIMINATED, 1)
    if c[TUICHI_WINS] == 1 and s[SIDE] == 0 and free_ways(s, c) >= 2:
        return winner_code(c, TUICHI, 1)
    return 0


@jit
def hostile_to_defenders(s: State, c: Config, l: int) -> int:
    """The places of line `l` against which an attacker captures a defending soldier."""
    found = int(s[l])
    if c[CAMP_HOSTILE] == ASHTON:
        found |= int(BASES[l])
    if l == 4 or l == 13:
        if s[KING] != THRONE:
            if c[THRONE_HOSTILE] == HOSTILE_TO_DEFENDERS or c[THRONE_HOSTILE] == HOSTILE_TO_BOTH:
                found |= MIDDLE
        elif c[THRONE_KING_HOSTILE] == ALWAYS:
            found |= MIDDLE
        elif c[THRONE_KING_HOSTILE] == LINNAEAN:
            # The fourth neighbour is the soldier to be captured, so three attackers are all the others.
            if bits(s[4] & AROUND) + bits(s[13] & AROUND) == 3:
                found |= MIDDLE
    return found


@jit
def hostile_to_attackers(s: State, c: Config, l: int) -> int:
    """The places of line `l` against which a defender captures an attacker."""
    found = int(s[18 + l])
    if c[KING_ARMED] == 0:
        if l == s[KING] % 9:
            found &= ~(1 << int(s[KING] // 9))
        elif l == 9 + s[KING] // 9:
            found &= ~(1 << int(s[KING] % 9))
    if c[CAMP_HOSTILE] == ASHTON:
        found |= int(BASE_FLANKS[l])
    if l == 4 or l == 13:
        if s[KING] != THRONE and (c[THRONE_HOSTILE] == HOSTILE_TO_ATTACKERS or c[THRONE_HOSTILE] == HOSTILE_TO_BOTH):
            found |= MIDDLE
    return found


@jit
def hostile_to_king(s: State, c: Config, l: int) -> int:
    """The places of line `l` that are hostile to the king wherever he is."""
    found = int(s[l])
    if c[CAMP_HOSTILE] == ASHTON:
        found |= int(BASES[l])
    return found


@jit
def is_shut(s: State, c: Config, l: int, p: int) -> bool:
    """The four-neighbour test of one neighbour (`p` may be off the board): is it hostile to the king?"""
    if p < 0 or p > 8:
        return c[KING_EDGE_CAPTURE] == 1  # type: ignore[no-any-return]
    found = hostile_to_king(s, c, l)
    if (l == 4 or l == 13) and s[KING] != THRONE:
        found |= MIDDLE
    return found >> p & 1 == 1


@jit
def needs_four(s: State, c: Config) -> bool:
    """Whether the king, where he stands, is captured only by four hostile neighbours."""
    k = s[KING]
    if c[KING_CAPTURE] != CUSTODIAL:
        return True
    return k == THRONE or k == THRONE - 9 or k == THRONE + 9 or k == THRONE - 1 or k == THRONE + 1  # type: ignore[no-any-return]


@jit
def is_king_taken(s: State, c: Config, l: int, p: int, step: int) -> bool:
    """Whether an attacker that moved to place `p` of line `l`, next to the king at `p + step`, captures him."""
    if needs_four(s, c):
        x, y = int(s[KING] // 9), int(s[KING] % 9)
        return (
            is_shut(s, c, y, x - 1)
            and is_shut(s, c, y, x + 1)
            and is_shut(s, c, 9 + x, y - 1)
            and is_shut(s, c, 9 + x, y + 1)
        )
    behind = p + 2 * step
    return 0 <= behind <= 8 and hostile_to_king(s, c, l) >> behind & 1 == 1


@jit
def flip(s: State, base: int, cell: int) -> None:
    """Put a piece of a colour (base 0 attackers, 18 defenders) on a cell, or take it off."""
    x, y = cell // 9, cell % 9
    s[base + y] ^= 1 << x
    s[base + 9 + x] ^= 1 << y


@jit
def is_taken(s: State, c: Config, l: int, p: int, step: int, side: int, hostile: int) -> bool:
    """Whether a piece of `side` that moved to place `p` of line `l` captures what stands at `p + step`."""
    at = p + step
    if at < 0 or at > 8 or not s[18 * (1 - side) + l] >> at & 1:
        return False
    if side == 0 and s[KING] == (at * 9 + l if l < 9 else (l - 9) * 9 + at):
        return is_king_taken(s, c, l, p, step)
    behind = at + step
    return 0 <= behind <= 8 and hostile >> behind & 1 == 1


@jit
def advance(s: State, c: Config, move: int) -> None:
    """Play a move on `s` itself, with its captures and the counters."""
    start, end, side = move // 81, move % 81, int(s[SIDE])
    flip(s, 18 * side, start)
    flip(s, 18 * side, end)
    is_king = s[KING] == start
    if is_king:
        s[KING] = end
    s[QUIET] += 1
    x, y = end // 9, end % 9
    if not (is_king and c[KING_ARMED] == 0):
        if side == 0:
            across, along = hostile_to_defenders(s, c, y), hostile_to_defenders(s, c, 9 + x)
        else:
            across, along = hostile_to_attackers(s, c, y), hostile_to_attackers(s, c, 9 + x)
        # All captures are judged on the board right after the move, then removed together.
        left = is_taken(s, c, y, x, -1, side, across)
        right = is_taken(s, c, y, x, 1, side, across)
        below = is_taken(s, c, 9 + x, y, -1, side, along)
        above = is_taken(s, c, 9 + x, y, 1, side, along)
        if left:
            remove(s, 1 - side, end - 9)
        if right:
            remove(s, 1 - side, end + 9)
        if below:
            remove(s, 1 - side, end - 1)
        if above:
            remove(s, 1 - side, end + 1)
    s[SIDE] = 1 - side
    s[PLY] += 1
    if c[PERPETUAL_RAICHI] == 1 and side == 1:
        s[RAICHI] = s[RAICHI] + 1 if free_ways(s, c) > 0 else 0


@jit
def remove(s: State, side: int, cell: int) -> None:
    """Take a captured piece of `side` off the board."""
    flip(s, 18 * side, cell)
    if cell == s[KING]:
        s[KING] = -1
    s[QUIET] = 0
