"""Measure the tempo bonus and the typical error of a static evaluation by shallow searches.

Both values are measured for every net and stored with its weights (`bots.search.net`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bots.search import search
from bots.search.net import LINEAR_EVAL, LMR_FIRST_MOVE, NET, SEARCH_FEATURES, TEMPO, Net
from referee.rules.rules import Ruleset

Scores = npt.NDArray[np.int64]
"""[position, depth]: the scores of searches of each depth, at depth 0 the static score."""

MAX_DEPTH = 3
MAX_POSITIONS = 400
"""Positions that are searched, at most."""
QUANTILE = 0.7
"""Share of positions whose error is at most the evaluation margin."""
TABLE_BYTES = 1 << 20
NEVER = 1 << 20


def search_scores(ruleset: Ruleset, net: Net, states: npt.NDArray[Any]) -> Scores:
    """Return the scores of full-width searches of the positions, with a tempo bonus of 0.

    Positions that are over, or in which a search finds a win, are left out.
    """
    rules, config = ruleset.rules, ruleset.config
    s, evaluation = search("alphabeta", rules.family), search("evaluation", rules.family)
    search_state, score_rows = s.new_search_state(TABLE_BYTES, net._replace(maps=net.maps.copy())), []
    search_state.maps[0, SEARCH_FEATURES] &= NET | LINEAR_EVAL
    search_state.maps[0, TEMPO], search_state.maps[0, LMR_FIRST_MOVE] = 0, NEVER
    search_state.work[s.NODE_LIMIT] = 2**62
    moves = np.zeros(rules.kernel.MAX_MOVES, dtype=np.int64)
    for state in states:
        if rules.kernel.result(state, config, 1, 0) != 0 or rules.kernel.legal(state, config, moves) == 0:
            continue
        search_state.work[s.GENERATION] += 1
        s.start_search(search_state, np.zeros(0, dtype=np.uint64), state, rules.side(state, config), int(moves[0]))
        static = s.static_eval(search_state, s.ZERO, config)
        if search_state.maps[0, SEARCH_FEATURES] & NET != 0:
            static = evaluation.apply_net(
                search_state.rows, search_state.maps, search_state.accumulators[0], state, static
            )
        scores = [int(static)]
        for depth in range(1, MAX_DEPTH + 1):
            s.search_iteration(search_state, config, depth)
            scores.append(int(search_state.work[s.SCORE]))
        if max(map(abs, scores)) < s.WIN_IN_ONE:
            score_rows.append(scores)
    return np.array(score_rows, dtype=np.int64).reshape(len(score_rows), MAX_DEPTH + 1)


def measure(ruleset: Ruleset, net: Net, states: npt.NDArray[Any]) -> tuple[int, int]:
    """Measure the tempo bonus and the evaluation margin of a net on some of the positions."""
    scores = search_scores(ruleset, net, states[:: max(1, len(states) // MAX_POSITIONS)])
    return tempo_bonus(scores), eval_margin(scores)


def tempo_bonus(scores: Scores) -> int:
    """Estimate the tempo bonus: half the mean difference between scores of odd and even depths."""
    return max(0, round(float(np.mean((scores[:, 1] + scores[:, 3]) / 2 - scores[:, 2]) / 2))) if len(scores) else 0


def eval_margin(scores: Scores) -> int:
    """Estimate the error of static scores by searches of depth 2, after which the same side is to move."""
    return round(float(np.quantile(np.abs(scores[:, 2] - scores[:, 0]), QUANTILE))) if len(scores) else 0
