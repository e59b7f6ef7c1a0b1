"""A compiled static score of a position: material, advance, cubes that can be captured, and goals within one turn.

There is no search, but whether a side could win on the far row with its next turn is determined exactly.

Letters: R P S W = cubes on top of one side by role, E = empty cells.
"""

from __future__ import annotations

from typing import Any

from referee.rules.jit import ctz, jit, popcount
from referee.rules.pijersi.kernel_turns import has_turn, is_won, stack_targets
from referee.rules.pijersi.state import BOTTOMS, HALF, NO_CAPTURE_LIMIT, PHASE, SWAPPING
from referee.rules.pijersi.tables import ALL_CELLS, EDGE, NEAR, ROW_A, ROW_G, ROW_LENGTHS, ROW_STARTS

_WON = 19_000
_GOAL_IN_ONE = 12_000
_MOST_UNDECIDED = 9_000
"""Bound of the other scores: from 10,000 on a score of `Kernel.evaluate` is a win in one move."""
_GOAL_THREAT = 250
_CUBE = 100
_WISE = 35
"""Less than a cube: wise cubes neither capture nor reach the goal."""
_STACK = 8
_HANGING = 45
_FURTHER_HANGING = 15
_TEMPO = 10

_ROWS = tuple(((1 << length) - 1) << start for start, length in zip(ROW_STARTS, ROW_LENGTHS, strict=True))
_ADVANCE = (0, 3, 8, 17, 35, 60, 0)
"""Score of a rock, paper or scissors on each row, counted from its own side; on the last one it has won."""

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
        if NEAR[s] & (landing | joins) & goal:  # one step
            return True
        free = E
        if joins & bit:
            free |= bit  # a single cube that joins another leaves its cell empty
        else:
            mids = stack_targets(s, E, landing)  # a stack moves, and then its top cube alone
            if (mids | (_next_to(mids) & (landing | joins))) & goal:
                return True
        joined = NEAR[s] & joins  # it joins an own cube, and the stack moves
        while joined:
            if stack_targets(ctz(joined), free, landing) & goal:
                return True
            joined &= joined - 1
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
    score = _CUBE * (popcount(tops) + popcount(low)) + _WISE * wise + _STACK * popcount(stacks & tops)
    for row in range(7):
        cells = _ROWS[6 - row] if side else _ROWS[row]
        score += _ADVANCE[row] * (popcount(tops & cells) + popcount(low & cells))
    return score


@jit
def _takeable(state: Any, side: Any) -> Any:
    """Count the cells of `side` that the other side could capture with a step, or with two steps of a stack.

    Captures after a join or a jump are not counted.
    """
    own = 4 * side
    foe = 4 - own
    stacks = state[BOTTOMS] | state[BOTTOMS + 1] | state[BOTTOMS + 2] | state[BOTTOMS + 3]
    mine = state[own] | state[own + 1] | state[own + 2] | state[own + 3]
    E = ALL_CELLS & ~(mine | state[foe] | state[foe + 1] | state[foe + 2] | state[foe + 3])
    foe_r = state[foe]
    foe_p = state[foe + 1]
    foe_s = state[foe + 2]
    n = popcount(_next_to(foe_r | (_next_to(foe_r & stacks) & E)) & state[own + 2])
    n += popcount(_next_to(foe_p | (_next_to(foe_p & stacks) & E)) & state[own])
    return n + popcount(_next_to(foe_s | (_next_to(foe_s & stacks) & E)) & state[own + 1])


@jit
def static_score(state: Any, config: Any) -> Any:
    """Return the score for the side to move, |score| < 20,000; see `Kernel.evaluate`."""
    side = state[PHASE] & 1
    won = is_won(state)
    if won:
        return _WON if won == side + 1 else -_WON
    limit = config[NO_CAPTURE_LIMIT]
    if limit and state[HALF] >= limit:
        return 0
    if state[PHASE] & SWAPPING:
        return 0
    if not has_turn(state):
        return -_WON
    if can_reach_goal(state, side):
        return _GOAL_IN_ONE
    score = _standing(state, side) - _standing(state, 1 - side) + _TEMPO
    # The side to move captures at most one hanging cube, and may still save its own.
    hanging = _takeable(state, 1 - side)
    if hanging:
        score += _HANGING + _FURTHER_HANGING * (hanging - 1)
    score -= _FURTHER_HANGING * _takeable(state, side)
    if can_reach_goal(state, 1 - side):
        score -= _GOAL_THREAT
    if limit:  # an advantage counts less the nearer the draw is
        score -= score * state[HALF] // (2 * limit)
    return max(-_MOST_UNDECIDED, min(_MOST_UNDECIDED, score))
