"""Prices are fitted: what was planted is learned, and the search goes by it as it was fitted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bots.search import search
from bots.search.net import (
    FIRST_PIECE_VALUE,
    QUIESCENCE,
    SEARCH_FEATURES,
    TUNED_PIECE_VALUES,
    SearchParameters,
    empty_net,
    load_net,
    piece_value_net,
)
from bots.training.__main__ import main as train
from bots.training.champion_tunable import TunableChampion
from bots.training.piece_value_fit import piece_counts, quiet_positions, tactics_of, td_lambda_targets
from bots.training.piece_value_fit import train as train_values
from bots.training.positions import logistic
from bots.training.selfplay_data import main as make
from referee.rules import load
from referee.rules.position import Position

RULESET = load("baroque").settle()
LEARNED: SearchParameters = (QUIESCENCE | TUNED_PIECE_VALUES, 0, 60, 12)
COUNT = 15


def test_planted_prices_are_learned_and_what_is_never_seen_keeps_its_guess() -> None:
    rng, planted = np.random.default_rng(1), np.array([0.1, 0.6, -0.3, 0], dtype=np.float32)
    counts = rng.integers(-3, 4, (4_000, 4)).astype(np.float32) * np.array([1, 1, 1, 0], dtype=np.float32)
    found = train_values(counts, logistic(counts @ planted), np.array([0.5, 0, 0, 0.7], dtype=np.float32))
    assert found == pytest.approx([0.1, 0.6, -0.3, 0.7], abs=0.01)


def test_what_comes_later_is_told_to_the_side_that_moves() -> None:
    game, second = np.array([1, 1, 1, 2]), np.array([False, True, False, True])
    result, score = np.array([1, 0, 1, 0.5]), np.array([0.5, 0.3, 0.6, 0.2])
    assert td_lambda_targets(game, result, score, second, 0) == pytest.approx(score)
    assert td_lambda_targets(game, result, score, second, 1) == pytest.approx(result)
    # for the first side the scores are 0.5, 0.7, 0.6 and then it wins
    assert td_lambda_targets(game, result, score, second, 0.5) == pytest.approx([0.625, 0.25, 0.8, 0.35])


def test_the_search_adds_learned_prices_up() -> None:
    s, features, prices = search("alphabeta", "baroque"), RULESET.rules.features, np.arange(3, 3 + COUNT)
    assert features is not None
    search_state = s.new_search_state(1 << 16, piece_value_net(features, prices.astype(np.int32)[np.newaxis], LEARNED))
    position, rng = Position.start(RULESET), np.random.default_rng(1)
    for _ in range(40):
        position = position.play(position.moves[rng.integers(len(position.moves))])
        search_state.states[0] = position.state
        counts = piece_counts(RULESET, position.state[np.newaxis])[0].astype(np.int64)
        assert s.quiet_eval(search_state, s.ZERO, RULESET.config) == int(counts @ prices)


@pytest.mark.parametrize(
    ("text", "rests"),
    [
        ("k7/8/8/8/8/8/8/K7 w 0 1", True),
        ("k7/8/8/3Np3/8/8/8/K7 w 0 1", False),
        ("k7/8/8/3Np3/8/8/8/K7 b 0 1", False),
        ("8/8/8/8/8/3k4/8/R2K4 b 0 1", False),
    ],
)
def test_a_position_rests_when_neither_side_takes_anything(text: str, rests: bool) -> None:
    assert quiet_positions(RULESET, RULESET.read(text)[np.newaxis]).tolist() == [rests]


def test_by_command_from_nothing(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "baroque.npz"
    make(["--family", "baroque", "--weights", "none", "--positions", "300", "--nodes", "60", "--out", str(data)])
    train(
        [
            str(data),
            "--piece-values",
            "--out",
            str(out),
            "--validation-split",
            "0.3",
            "--search-features",
            str(QUIESCENCE),
        ]
    )
    net = load_net(RULESET, out)
    assert net.maps[0, SEARCH_FEATURES] == QUIESCENCE | TUNED_PIECE_VALUES
    with np.load(out) as kept:
        assert net.maps[0, FIRST_PIECE_VALUE : FIRST_PIECE_VALUE + COUNT].tolist() == kept["weights"].ravel().tolist()


def test_without_learned_prices_the_guesses_of_the_kernel_stand() -> None:
    s, kernel = search("alphabeta", "baroque"), tactics_of(RULESET)
    search_state = s.new_search_state(1 << 16, empty_net(None, (QUIESCENCE, 0, 60, 12)))
    search_state.states[0] = RULESET.read("k7/8/8/8/3P4/8/8/K7 w 0 1")
    assert s.quiet_eval(search_state, s.ZERO, RULESET.config) == kernel.PIECE_VALUES[0]


def test_families_without_tactics_are_refused() -> None:
    with pytest.raises(ValueError, match="has no tactics"):
        quiet_positions(load("abalone").settle(), np.zeros((1, 1)))


def tuned(means: dict[str, float]) -> str:
    parameters = [{"name": name, "mean": mean} for name, mean in means.items()]
    return json.dumps(
        {"games": 2, "pentanomial": [0, 0, 1, 0, 0], "parameters": parameters, "run": {"family": "baroque"}}
    )


def test_what_games_have_found_becomes_weights(tmp_path: Path) -> None:
    file, out = tmp_path / "result.json", tmp_path / "baroque.npz"
    file.write_text(tuned({f"Price{group}": 10.4 * (group + 1) for group in range(10)}), encoding="utf-8")
    train(["--tuned", str(file), "--out", str(out), "--search-features", str(QUIESCENCE)])
    net, kernel = load_net(RULESET, out), tactics_of(RULESET)
    frozen = [round(10.4 * 7 * price / 12) for price in kernel.PIECE_VALUES[6:12].tolist()]
    prices = net.maps[0, FIRST_PIECE_VALUE : FIRST_PIECE_VALUE + COUNT].tolist()
    assert prices == [10, 21, 31, 42, 52, 62, *frozen, 83, 94, 104]
    assert net.maps[0, SEARCH_FEATURES] == QUIESCENCE | TUNED_PIECE_VALUES


def test_what_games_have_found_is_to_be_whole_and_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "result.json", tmp_path / "baroque.npz"
    file.write_text(tuned({"Price0": 60, "Price1": 450}), encoding="utf-8")
    for more, problem in (([], "has no parameter Price2"), (["--family", "baroque"], "cannot be combined")):
        with pytest.raises(SystemExit):
            train(["--tuned", str(file), "--out", str(out), *more])
        assert problem in capsys.readouterr().err
    assert not out.exists()


def test_the_bot_that_is_tuned_goes_by_the_prices_it_is_told() -> None:
    bot, kernel = TunableChampion(), tactics_of(RULESET)
    bot._values |= {"Price0": "77", "Price6": "24", "Price9": "5"}
    bot.warm_up(Position.start(RULESET))
    kept = load_net(RULESET).maps[0, FIRST_PIECE_VALUE : FIRST_PIECE_VALUE + COUNT].tolist()
    frozen = (2 * kernel.PIECE_VALUES[6:12]).tolist()
    assert bot._search_state.maps[0, FIRST_PIECE_VALUE : FIRST_PIECE_VALUE + COUNT].tolist() == [
        77,
        *kept[1:6],
        *frozen,
        *kept[12:14],
        5,
    ]
