"""Prices are fitted: what was planted is learned, and the search goes by it as it was fitted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bots.lesson import main as make
from bots.price import at_rest, counts_of, learn, tactics_of, told
from bots.sample import chance
from bots.search import search
from bots.search.net import FIRST_PRICE, PRICES, SETTLE, TECHNIQUES, Learned, blank, net_for, of_prices
from bots.training import main as train
from referee.rules import load
from referee.rules.position import Position

RULESET = load("baroque").settle()
LEARNED: Learned = (SETTLE | PRICES, 0, 60, 12)
COUNT = 15


def test_planted_prices_are_learned_and_what_is_never_seen_keeps_its_guess() -> None:
    rng, planted = np.random.default_rng(1), np.array([0.1, 0.6, -0.3, 0], dtype=np.float32)
    counts = rng.integers(-3, 4, (4_000, 4)).astype(np.float32) * np.array([1, 1, 1, 0], dtype=np.float32)
    found = learn(counts, chance(counts @ planted), np.array([0.5, 0, 0, 0.7], dtype=np.float32))
    assert found == pytest.approx([0.1, 0.6, -0.3, 0.7], abs=0.01)


def test_what_comes_later_is_told_to_the_side_that_moves() -> None:
    game, second = np.array([1, 1, 1, 2]), np.array([False, True, False, True])
    result, score = np.array([1, 0, 1, 0.5]), np.array([0.5, 0.3, 0.6, 0.2])
    assert told(game, result, score, second, 0) == pytest.approx(score)
    assert told(game, result, score, second, 1) == pytest.approx(result)
    # for the first side the scores are 0.5, 0.7, 0.6 and then it wins
    assert told(game, result, score, second, 0.5) == pytest.approx([0.625, 0.25, 0.8, 0.35])


def test_the_search_adds_learned_prices_up() -> None:
    s, features, prices = search("champion", "baroque"), RULESET.rules.features, np.arange(3, 3 + COUNT)
    assert features is not None
    desk = s.new_desk(1 << 16, of_prices(features, prices.astype(np.int32)[np.newaxis], LEARNED))
    position, rng = Position.start(RULESET), np.random.default_rng(1)
    for _ in range(40):
        position = position.play(position.moves[rng.integers(len(position.moves))])
        desk.states[0] = position.state
        counts = counts_of(RULESET, position.state[np.newaxis])[0].astype(np.int64)
        assert s.calm(desk, s.NOUGHT, RULESET.config) == int(counts @ prices)


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
    assert at_rest(RULESET, RULESET.read(text)[np.newaxis]).tolist() == [rests]


def test_by_command_from_nothing(tmp_path: Path) -> None:
    data, out = tmp_path / "data", tmp_path / "baroque.npz"
    make(["--family", "baroque", "--weights", "none", "--positions", "300", "--nodes", "60", "--out", str(data)])
    train([str(data), "--prices", "--out", str(out), "--held-out", "0.3", "--techniques", str(SETTLE)])
    net = net_for(RULESET.rules, RULESET.config, out)
    assert net.maps[0, TECHNIQUES] == SETTLE | PRICES
    with np.load(out) as kept:
        assert net.maps[0, FIRST_PRICE : FIRST_PRICE + COUNT].tolist() == kept["weights"].ravel().tolist()


def test_without_learned_prices_the_guesses_of_the_kernel_stand() -> None:
    s, kernel = search("champion", "baroque"), tactics_of(RULESET)
    desk = s.new_desk(1 << 16, blank(None, (SETTLE, 0, 60, 12)))
    desk.states[0] = RULESET.read("k7/8/8/8/3P4/8/8/K7 w 0 1")
    assert s.calm(desk, s.NOUGHT, RULESET.config) == kernel.PRICES[0]


def test_families_without_tactics_are_refused() -> None:
    with pytest.raises(ValueError, match="tells of no tactics"):
        at_rest(load("abalone").settle(), np.zeros((1, 1)))
