"""Quiescence search: captures alone, until the position is quiet enough for a static score.

Loaded once per family (see `bots.search`).
"""

from __future__ import annotations

from typing import Any

from bots.search import search
from bots.search.net import FIRST_PIECE_VALUE, TEMPO
from bots.search.search_state import MAX_DEPTH, MOVES, NODES, ZERO, SearchState, must_stop
from referee.rules.per_family import family_of, kernel_for
from referee.rules.rules import Config

_kernel, compiled = kernel_for(__name__)
play = _kernel.play
_evaluation, _ordering = search("evaluation", family_of(__name__)), search("ordering", family_of(__name__))
quiet_eval, kernel_captures = _evaluation.quiet_eval, _evaluation.kernel_captures
RANKS, CHILD_EVALS = _ordering.RANKS, _ordering.CHILD_EVALS

Q_ALPHA, Q_BETA, STAND_PAT, Q_BEST, Q_CAPTURES, Q_TRIED = range(CHILD_EVALS, CHILD_EVALS + 6)
"""Columns of `plies` in `quiescence`: alpha and beta, the stand-pat score, the best score, the number of captures and
how many of them were tried.
"""
MAX_QUIESCENCE_PLIES = 4
"""Greatest depth of the quiescence search.

The constants of quiescence search, these two and RAZOR_MARGIN and LMR_SECOND_PLY_FROM of `pruning`, were set by hand
and measured together in the one built-in family with `Tactics` (docs/reports/2026-11-24-champion.md).
"""
DELTA_MARGIN = 100
"""Delta pruning: a capture is searched if its gain plus this margin can raise alpha."""


@compiled
def pick_best_capture(moves: Any, gains: Any, i: int, count: int) -> int:
    """Move the most valuable of the captures `i..count-1` to index `i` and return it; on a tie the lower move code."""
    best = i
    for j in range(i + 1, count):
        if gains[j] > gains[best] or (gains[j] == gains[best] and moves[j] < moves[best]):
            best = j
    moves[i], moves[best] = moves[best], moves[i]
    gains[i], gains[best] = gains[best], gains[i]
    return moves[i]  # type: ignore[no-any-return]


@compiled
def quiescence(st: SearchState, config: Config, ply: int, alpha: int, beta: int) -> int:
    """Run a quiescence search: return the score of `states[ply]` for the side to move, which may stand pat or capture.

    It loops instead of recursing, because mutually recursive functions cannot be cached on disk.
    """
    work, p, is_known, value = st.work, ply, False, ZERO
    st.plies[p, Q_ALPHA], st.plies[p, Q_BETA] = alpha, beta
    while True:
        here = st.plies[p]
        moves, gains = here[MOVES:RANKS], here[RANKS:CHILD_EVALS]
        if not is_known:  # entered a moment ago
            if p - ply >= MAX_QUIESCENCE_PLIES or p + 1 >= MAX_DEPTH:
                value, is_known = quiet_eval(st, p, config) + st.maps[0, TEMPO], True
            else:
                value = quiet_eval(st, p, config) + st.maps[0, TEMPO]
                is_known = value >= here[Q_BETA]
                here[STAND_PAT], here[Q_BEST], here[Q_TRIED] = value, value, 0
                if not is_known:
                    here[Q_CAPTURES] = kernel_captures(
                        st.states[p], config, st.maps[0, FIRST_PIECE_VALUE:], moves, gains
                    )
        if is_known:
            if p == ply:
                return value  # type: ignore[no-any-return]
            p -= 1
            here = st.plies[p]
            moves, gains = here[MOVES:RANKS], here[RANKS:CHILD_EVALS]
            here[Q_BEST] = max(here[Q_BEST], -value)
        i, alpha = here[Q_TRIED], max(here[Q_ALPHA], here[Q_BEST])
        value, is_known = here[Q_BEST], True
        if i < here[Q_CAPTURES] and value < here[Q_BETA]:
            move = pick_best_capture(moves, gains, i, here[Q_CAPTURES])
            # Captures come by falling gain: if this one cannot raise alpha, none of the rest can, and the position is
            # done.
            if here[STAND_PAT] + gains[i] + DELTA_MARGIN > here[Q_ALPHA]:
                if must_stop(work):
                    return 0
                play(st.states[p], config, move, st.states[p + 1])
                work[NODES] += 1
                here[Q_TRIED] += 1
                p += 1
                st.plies[p, Q_ALPHA], st.plies[p, Q_BETA], is_known = -here[Q_BETA], -alpha, False
