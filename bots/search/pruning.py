"""Pruning of an alpha-beta search: futility pruning, razoring, late move reductions.

Loaded once per family (see `bots.search`). The search features of the weights (`bots.search.net`) switch each of them
on; the unit of their margins is the typical error of a static score.
"""

# ruff: noqa: PLR0917 - the compiled functions call each other by position alone
from __future__ import annotations

from bots.search import search
from bots.search.net import (
    EVAL_MARGIN,
    FUTILITY,
    LMR_FIRST_MOVE,
    RAZORING,
    REVERSE_FUTILITY,
    SEARCH_FEATURES,
    TEMPO,
)
from bots.search.search_state import ABORTED, UNKNOWN, SearchState
from referee.rules.per_family import family_of, kernel_for
from referee.rules.rules import Config

_kernel, compiled = kernel_for(__name__)
quiescence = search("quiescence", family_of(__name__)).quiescence

MAX_PRUNING_DEPTH = 4
"""Greatest depth for reverse futility pruning and futility pruning."""
RAZOR_MARGIN, MAX_RAZOR_DEPTH = 150, 2
"""Razoring: up to this depth, a position that is below alpha by the margin per ply goes straight to quiescence search.
"""
LMR_SECOND_PLY_FROM = 16
"""Moves from this number on are reduced by two plies in searches with quiescence."""


@compiled.inlined
def is_decided(st: SearchState, static: int, depth: int, alpha: int, beta: int) -> bool:
    """Return whether the static score is so far outside alpha..beta, near a leaf, that it stands for a search."""
    margin, features = st.maps[0, EVAL_MARGIN], st.maps[0, SEARCH_FEATURES]
    if features & REVERSE_FUTILITY != 0 and depth <= MAX_PRUNING_DEPTH and static - margin * (depth + 1) // 2 >= beta:
        return True
    return depth == 1 and features & RAZORING != 0 and static + margin <= alpha


@compiled.inlined
def razor(st: SearchState, config: Config, ply: int, static: int, depth: int, alpha: int, beta: int) -> int:
    """Return the score of a quiescence search if it shows that no move raises alpha, else UNKNOWN.

    `static` is the stand-pat score.
    """
    if depth > MAX_RAZOR_DEPTH or static + RAZOR_MARGIN * depth > alpha:
        return UNKNOWN  # type: ignore[no-any-return]
    score = quiescence(st, config, ply, alpha, beta)
    return score if st.work[ABORTED] != 0 or score <= alpha else UNKNOWN  # type: ignore[no-any-return]


@compiled.inlined
def is_futile(st: SearchState, rank: int, depth: int, alpha: int) -> bool:
    """Return whether a move ranked by the static score after it stays below alpha by a margin: futility pruning."""
    margin = st.maps[0, EVAL_MARGIN] * depth // 2
    is_near_leaf = depth <= MAX_PRUNING_DEPTH and st.maps[0, SEARCH_FEATURES] & FUTILITY != 0
    return is_near_leaf and rank - st.maps[0, TEMPO] + margin <= alpha


@compiled.inlined
def late_move_reduction(st: SearchState, i: int, depth: int, may_reduce_twice: bool) -> int:
    """Return by how many plies the search of move `i` is reduced at first."""
    if depth < 3 or i < st.maps[0, LMR_FIRST_MOVE]:
        return 0
    return 2 if may_reduce_twice and depth >= 4 and i >= LMR_SECOND_PLY_FROM else 1
