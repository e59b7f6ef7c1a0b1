"""A compiled static score of a position: material, advance, cubes that can be captured, and goals within one turn.

There is no search, but whether a side could win on the far row with its next turn is determined exactly.

Letters: R P S W = own cubes on top by role, rR pP sS the same for the other side; E = empty cells.
"""

from __future__ import annotations

from typing import Any

from referee.rules.jit import ctz, jit, popcount
from referee.rules.pijersi.kernel_turns import has_turn, is_won, stack_targets
from referee.rules.pijersi.state import BOTTOMS, HALF, NO_CAPTURE_LIMIT, PHASE, SWAPPING
from referee.rules.pijersi.tables import ALL_CELLS, EDGE, NEAR, ROW_A, ROW_G, ROW_LENGTHS, ROW_STARTS

WON = 19_000
GOAL_IN_ONE = 12_000
"""Scores above those of undecided positions: from 10,000 on a score means a win in one move, below 20,000 is any."""
GOAL_THREAT = 250
CUBE = 100
WISE = 35
"""Less than a cube: wise cubes neither capture nor reach the goal."""
STACK = 8
HANGING = 45
TEMPO = 10

_ROWS = tuple(((1 << length) - 1) << start for start, length in zip(ROW_STARTS, ROW_LENGTHS, strict=True))
_ADVANCE = (0, 3, 8, 17, 35, 60, 0)
"""Score of a rock, paper or scissors on each row, counted from its own side."""

_HOME = sum(_ROWS[:4])
_AWAY = sum(_ROWS[3:])
_SW, _SE, _WEST, _EAST, _NW, _NE = (int(edge) for edge in EDGE)


@jit
def _next_to(z: Any) -> Any:
    """Return the cells with a neighbour in `z`."""
    return (
        ((z & _SW) >> 7)
        | ((z & _SE) >> 6)
        | ((z & _WEST) >> 1)
        | ((z & _EAST) << 1)
        | ((z & _NW) << 6)
        | ((z & _NE) << 7)
    )


@jit
def can_reach_goal(state: Any, side: Any) -> Any:
    """Return whether `side`, if it were to move, has a turn that ends with a rock, paper or scissors on the far row."""
    own = 4 * side
    foe = 4 - own
    R = state[own]
    P = state[own + 1]
    S = state[own + 2]
    W = state[own + 3]
    runners = (R | P | S) & (_HOME if side else _AWAY)  # no turn leads further than three rows
    if runners == 0:
        return False
    goal = ROW_A if side else ROW_G
    mine = R | P | S | W
    E = ALL_CELLS & ~(mine | state[foe] | state[foe + 1] | state[foe + 2] | state[foe + 3])
    joins = mine & ~(state[BOTTOMS] | state[BOTTOMS + 1] | state[BOTTOMS + 2] | state[BOTTOMS + 3])
    while runners:
        bit = runners & -runners
        runners ^= bit
        s = ctz(bit)
        landing = E
        if R & bit:
            landing |= state[foe + 2]
        elif P & bit:
            landing |= state[foe]
        else:
            landing |= state[foe + 1]
        if NEAR[s] & (landing | joins) & goal:
            return True
        free = E
        if joins & bit:
            free |= bit
        else:
            mids = stack_targets(s, E, landing)
            if (mids | _next_to(mids) & (landing | joins)) & goal:
                return True
        mids = NEAR[s] & joins
        while mids:
            if stack_targets(ctz(mids), free, landing) & goal:
                return True
            mids &= mids - 1
    return False


@jit
def _standing(state: Any, side: Any) -> Any:
    """Score the material and advance of one side."""
    own = 4 * side
    tops = state[own] | state[own + 1] | state[own + 2]
    stacks = state[BOTTOMS] | state[BOTTOMS + 1] | state[BOTTOMS + 2] | state[BOTTOMS + 3]
    mine = tops | state[own + 3]
    low = (state[BOTTOMS] | state[BOTTOMS + 1] | state[BOTTOMS + 2]) & mine
    wise = popcount(state[own + 3]) + popcount(state[BOTTOMS + 3] & mine)
    score = CUBE * (popcount(tops) + popcount(low)) + WISE * wise + STACK * popcount(stacks & tops)
    for row in range(7):
        cells = _ROWS[6 - row] if side else _ROWS[row]
        score += _ADVANCE[row] * (popcount(tops & cells) + popcount(low & cells))
    return score


@jit
def _takeable(state: Any, side: Any) -> Any:
    """Count the cells of `side` that the other side could capture with a step, or with two steps of a stack."""
    own = 4 * side
    foe = 4 - own
    stacks = state[BOTTOMS] | state[BOTTOMS + 1] | state[BOTTOMS + 2] | state[BOTTOMS + 3]
    mine = state[own] | state[own + 1] | state[own + 2] | state[own + 3]
    E = ALL_CELLS & ~(mine | state[foe] | state[foe + 1] | state[foe + 2] | state[foe + 3])
    R = state[foe]
    P = state[foe + 1]
    S = state[foe + 2]
    n = popcount(_next_to(R | _next_to(R & stacks) & E) & state[own + 2])
    n += popcount(_next_to(P | _next_to(P & stacks) & E) & state[own])
    return n + popcount(_next_to(S | _next_to(S & stacks) & E) & state[own + 1])


@jit
def static_score(state: Any, config: Any) -> Any:
    """Return the score for the side to move, |score| < 20,000; see `Kernel.evaluate`."""
    side = state[PHASE] & 1
    won = is_won(state)
    if won:
        return WON if won == side + 1 else -WON
    limit = config[NO_CAPTURE_LIMIT]
    if limit and state[HALF] >= limit:
        return 0
    if state[PHASE] & SWAPPING:
        return 0
    if not has_turn(state):
        return -WON
    if can_reach_goal(state, side):
        return GOAL_IN_ONE
    score = _standing(state, side) - _standing(state, 1 - side) + TEMPO
    # The side to move captures at most one hanging cube, and may still save its own.
    hanging = _takeable(state, 1 - side)
    if hanging:
        score += HANGING + HANGING // 3 * (hanging - 1)
    score -= HANGING // 3 * _takeable(state, side)
    if can_reach_goal(state, 1 - side):
        score -= GOAL_THREAT
    if limit:  # an advantage counts less the nearer the draw is
        score -= score * state[HALF] // (2 * limit)
    # Below 10,000, from which a score means a win in one move.
    return max(-9_000, min(9_000, score))
