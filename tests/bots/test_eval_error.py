"""What stands with a net is measured: what being on move is worth, and how far static scores are off."""

from __future__ import annotations

import numpy as np
import pytest

from bots.search.net import empty_net
from bots.training.eval_error import eval_margin, measure, search_scores, tempo_bonus
from referee.rules import load
from referee.rules.position import Position

RULESET = load("loa").settle()


def positions(count: int) -> list[Position]:
    """Those of random games."""
    rng = np.random.default_rng(1)
    drawn: list[Position] = []
    position = Position.start(RULESET)
    while len(drawn) < count:
        position = position.play(position.moves[rng.integers(len(position.moves))])
        if position.outcome is not None:
            position = Position.start(RULESET)
        drawn.append(position)
    return drawn


def test_tempo_is_what_odd_depths_find_more_and_error_what_two_plies_change() -> None:
    middle = np.array([-100, 0, 50, 200])
    errors = np.array([10, 20, -30, 40])
    scores = np.stack([middle, middle + errors + 30, middle + errors - 30, middle + errors + 30], axis=1)
    assert tempo_bonus(scores) == 30
    assert eval_margin(scores) == pytest.approx(np.quantile(np.abs(errors - 30), 0.7), abs=1)
    assert tempo_bonus(scores[:0]) == eval_margin(scores[:0]) == 0


def test_a_search_of_one_ply_is_the_best_of_the_static_scores_behind_it() -> None:
    some, config, evaluate = positions(30), RULESET.config, RULESET.rules.kernel.evaluate
    for position in some:
        if position.outcome is not None:
            continue
        next_ones = [position.play(move) for move in position.moves]
        if any(after.outcome for after in next_ones):
            continue
        (scores,) = search_scores(RULESET, empty_net(None), position.state[None]).tolist() or [None]
        if scores is None:  # decided further on
            continue
        assert scores[0] == evaluate(position.state, config)
        assert scores[1] == max(-evaluate(after.state, config) for after in next_ones)


def test_what_is_over_says_nothing() -> None:
    ruleset = load("tablut").settle()
    captured = Position.start(ruleset, "3ttt3/4t4/4T4/t3T3t/ttTT1TTtt/t3T3t/4T4/4t4/3ttt3 a 0 0")
    assert captured.outcome is not None
    assert measure(ruleset, empty_net(None), captured.state[None]) == (0, 0)
