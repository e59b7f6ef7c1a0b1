"""What traits are worth is fitted: what was planted is learned, and the search adds it up as it was fitted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bots.search import search
from bots.search.net import HIDDEN, LINEAR_EVAL, SEARCH_FEATURES, SearchParameters, empty_net, linear_net, load_net
from bots.training.__main__ import main as train
from bots.training.linear_fit import active_features, fit_linear, linear_features_of
from bots.training.positions import TrainingPositions, static_scores
from bots.training.selfplay_data import main as make
from referee.rules import load
from referee.rules.position import Position

RULESET = load("loa").settle()
LEARNED: SearchParameters = (LINEAR_EVAL, 0, 60, 12)
GAMES, LENGTH = 60, 16


def sample() -> TrainingPositions:
    """Positions of random games; whoever has more pieces on a long diagonal wins."""
    rng, diagonal = np.random.default_rng(1), 0x8040201008040201
    states, results, games = [], [], []
    for game in range(GAMES):
        position = Position.start(RULESET)
        for _ in range(LENGTH):
            position = position.play(position.moves[rng.integers(len(position.moves))])
            own, other = (int(position.state[element]) & diagonal for element in (0, 3))
            lead = own.bit_count() - other.bit_count()
            states.append(position.state)
            results.append(np.sign(lead if position.side == "first" else -lead))
            games.append(game)
    known, won = np.array(states), np.array(results, dtype=np.int8)
    return TrainingPositions(
        known, won.astype(np.int32) * 100, won, np.array(games, dtype=np.int64), static_scores(RULESET, known)
    )


def test_what_was_planted_is_learned_and_the_search_adds_it_up() -> None:
    some = sample()
    fitted = fit_linear(RULESET, some, result_weight=0.5, epochs=150, validation_split=0.2, seed=1)
    assert fitted.after < 0.9 * fitted.before
    s, features = search("alphabeta", "loa"), RULESET.rules.features
    assert features is not None
    search_state = s.new_search_state(1 << 16, linear_net(features, fitted.weights, LEARNED))
    worth, seen = fitted.weights.ravel(), np.zeros(linear_features_of(RULESET).MAX_LINEAR_FEATURES, dtype=np.int64)
    for state in some.state[::40]:
        count = linear_features_of(RULESET).linear_features(state, RULESET.config, seen)
        search_state.states[0] = state
        expected = s.WIN_IN_ONE if count < 0 else int(worth[seen[:count]].sum()) >> 4
        assert s.static_eval(search_state, s.ZERO, RULESET.config) == expected


def test_positions_with_a_win_at_hand_are_left_out() -> None:
    near = Position.start(RULESET, "8/8/8/2bb4/4b3/8/1b6/w6w b - 1")
    assert any(near.play(move).outcome for move in near.moves)
    states = np.array([near.state, Position.start(RULESET).state])
    assert active_features(RULESET, states).rows.tolist() == [1]


def test_by_command_from_nothing(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "loa.npz"
    make(["--family", "loa", "--weights", "none", "--positions", "300", "--nodes", "60", "--out", str(data)])
    train([str(data), "--linear", "--out", str(out), "--epochs", "1", "--validation-split", "0.3"])
    net = load_net(RULESET, out)
    assert net.maps[0, SEARCH_FEATURES] == LINEAR_EVAL
    assert net.rows.size >= linear_features_of(RULESET).LINEAR_FEATURE_COUNT > net.rows.size - HIDDEN
    assert load_net(load("loa").settle("loa12"), out).maps[0, SEARCH_FEATURES] == 0


def test_without_worths_the_static_score_stands() -> None:
    s = search("alphabeta", "loa")
    search_state = s.new_search_state(1 << 16, empty_net(None, LEARNED))
    search_state.states[0] = Position.start(RULESET).state
    assert s.static_eval(search_state, s.ZERO, RULESET.config) == RULESET.rules.kernel.evaluate(
        search_state.states[0], RULESET.config
    )


def test_families_without_traits_are_refused() -> None:
    with pytest.raises(ValueError, match="has no linear features"):
        active_features(load("abalone").settle(), np.zeros((1, 1)))
