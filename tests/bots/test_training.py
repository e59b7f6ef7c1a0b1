"""The champion's net is fitted: it learns what was planted, and the search sums it up as it was trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from bots.search import search
from bots.search.net import (
    BIAS,
    FIRST_ROW,
    HEAD,
    HIDDEN,
    LMR_FIRST_MOVE,
    SEARCH_FEATURES,
    build_net,
    feature_count,
    load_net,
)
from bots.training.__main__ import main
from bots.training.net_fit import active_features, feature_images, fit_net
from bots.training.positions import TrainingPositions, fit_scale, static_scores
from referee.rules import load
from referee.rules.loa.state import FIRST, SECOND
from referee.rules.position import Position
from referee.rules.rules import Features, Ruleset, State
from referee.rules.tablut.state import KING
from referee.rules.tablut.tables import CELLS, LINES, SIZE

RULESET = load("loa").settle()
GAMES, LENGTH = 60, 16
EDGE = 0xFF818181818181FF
ROUNDED = 4
"""Static scores round towards one corner of the board: by so many hundredths two images may differ."""


def sample() -> TrainingPositions:
    """Positions of random games; whoever has more pieces on the edge wins, whatever they are to the eye."""
    rng = np.random.default_rng(1)
    states, results, games = [], [], []
    for game in range(GAMES):
        position = Position.start(RULESET)
        for _ in range(LENGTH):
            position = position.play(position.moves[rng.integers(len(position.moves))])
            first, second = (int(position.state[element]) & EDGE for element in (FIRST, SECOND))
            lead = first.bit_count() - second.bit_count()
            states.append(position.state)
            results.append(np.sign(lead if position.side == "first" else -lead))
            games.append(game)
    columns = np.array(results, dtype=np.int8)
    known = np.array(states)
    return TrainingPositions(
        known, columns.astype(np.int32) * 100, columns, np.array(games, dtype=np.int64), static_scores(RULESET, known)
    )


def test_it_learns_what_was_planted_and_the_search_agrees() -> None:
    fitted = fit_net(RULESET, sample(), result_weight=0.5, epochs=150, validation_split=0.2, seed=1)
    assert fitted.after < 0.8 * fitted.before
    features = RULESET.rules.features
    assert features is not None
    net, s = build_net(features, fitted.weights), search("evaluation", "loa")
    for state in sample().state[:40]:
        sums = np.zeros(net.rows.shape[1], dtype=np.int32)
        s.refresh_accumulator(sums, net.rows, net.maps, state)
        here = active_features(features, state[None])[0]
        assert (sums == fitted.weights[BIAS] + fitted.weights[HEAD + 2 :][here].sum(axis=0)).all()


def test_folders_without_positions_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path), "--out", str(tmp_path / "net.npz")])
    assert "schema.json" in capsys.readouterr().err


def seen_as(features: Features, state: State, image: tuple[npt.NDArray[np.int64], int]) -> State:
    """The state that looks as this one does in an image, where a state is what it shows."""
    order, changes = image
    shown = active_features(features, state[None])[0][order]
    seen = state.copy()
    for element, plane, cells in features.boards:
        bits = [bit for bit, cell in enumerate(cells) if cell >= 0 and shown[plane * features.cells + cell]]
        seen[element] = sum(1 << bit for bit in bits)
    first = len(shown) - sum(most + 1 for _, most in features.counts)
    for element, most in features.counts:
        (seen[element],) = np.flatnonzero(shown[first : first + most + 1])
        first += most + 1
    seen[features.mover[0]] ^= seen.dtype.type(changes * features.mover[1])
    return seen


@pytest.mark.parametrize(("family", "count"), [("abalone", 24), ("baroque", 16), ("loa", 16), ("pijersi", 12)])
def test_an_image_is_worth_the_same_and_has_as_many_moves(family: str, count: int) -> None:
    ruleset, rng = load(family).settle(), np.random.default_rng(1)
    features, kernel = ruleset.rules.features, ruleset.rules.kernel
    assert features is not None
    images = feature_images(features, ruleset)
    assert len(images) == count
    moves, position = np.zeros(kernel.MAX_MOVES, dtype=np.int64), Position.start(ruleset)
    for _ in range(12):
        position = position.play(position.moves[rng.integers(len(position.moves))])
        score = kernel.evaluate(position.state, ruleset.config)
        for image in images:
            state = seen_as(features, position.state, image)
            assert kernel.legal(state, ruleset.config, moves) == len(position.moves)
            assert abs(kernel.evaluate(state, ruleset.config) - score) <= ROUNDED


def test_which_side_wins_more_is_told_from_what_a_score_means() -> None:
    rng = np.random.default_rng(1)
    score, sides = rng.normal(0, 200, 20_000).astype(np.float32), np.sign(rng.normal(0, 1, 20_000)).astype(np.float32)
    chances = 1 / (1 + np.exp(-(score + 150 * sides) / 300))
    result = (rng.random(20_000) < chances).astype(np.float32)
    assert fit_scale(score, result, sides) == pytest.approx((300, 150), rel=0.05)
    assert fit_scale(score * np.float32(2), result, None)[0] > 600


def test_techniques_go_without_a_net(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "loa.npz"
    main(["--family", "loa", "--out", str(path), "--search-features", "272", "--tempo", "29", "--eval-margin", "45"])
    net = load_net(RULESET, path)
    assert net.maps[0, SEARCH_FEATURES : LMR_FIRST_MOVE + 1].tolist() == [272, 29, 45, 12]
    assert not net.rows.any()
    with pytest.raises(SystemExit, match="2"):
        main(["--out", str(path)])
    assert "--family F" in capsys.readouterr().err


def random_states(ruleset: Ruleset, plies: int) -> list[State]:
    """The positions of a random game."""
    rng, position = np.random.default_rng(2), Position.start(ruleset)
    found = [position.state]
    while len(found) <= plies and not position.outcome:
        position = position.play(position.moves[rng.integers(len(position.moves))])
        found.append(position.state)
    return found


def test_what_lies_around_the_king_is_summed_up_as_it_is_told() -> None:
    ruleset = load("tablut").settle()
    features, s = ruleset.rules.features, search("evaluation", "tablut")
    assert features is not None
    weights = np.random.default_rng(1).integers(-50, 50, (FIRST_ROW + feature_count(features), HIDDEN), dtype=np.int32)
    net = build_net(features, weights)
    search_state, kings = search("alphabeta", "tablut").new_search_state(1 << 15, net), set()
    states = random_states(ruleset, 50)
    s.refresh_accumulator(search_state.accumulators[0], net.rows, net.maps, states[0])
    for ply, state in enumerate(states):
        search_state.states[ply] = state
        if ply:
            s.update_accumulator(search_state, ply)
        here = active_features(features, state[None])[0]
        assert (search_state.accumulators[ply] == weights[BIAS] + weights[FIRST_ROW:][here].sum(axis=0)).all()
        kings.add(int(state[KING]))
    assert len(kings) > 1


def test_an_image_turns_what_lies_around_the_king() -> None:
    ruleset = load("tablut").settle()
    features = ruleset.rules.features
    assert features is not None
    images = feature_images(features, ruleset)
    assert len(images) == 8
    for state in random_states(ruleset, 30)[::10]:
        for order, _ in images:
            shown, image = active_features(features, state[None])[0][order], state.copy()
            planes = shown[: 3 * CELLS].reshape(3, SIZE, SIZE)
            for rank in range(SIZE):
                image[[rank, LINES + rank]] = planes[:2, :, rank] @ (1 << np.arange(SIZE))
            image[KING] = int(np.flatnonzero(planes[2].ravel())[0])
            assert (active_features(features, image[None])[0] == shown).all()


def test_static_scores_may_mean_what_those_of_searches_do() -> None:
    plain = sample()
    known = replace(plain, score=np.where(plain.result > 0, 60, -60).astype(np.int32))
    one = fit_net(RULESET, known, result_weight=0.2, epochs=1, validation_split=0.2, seed=1)
    other = fit_net(RULESET, known, result_weight=0.2, epochs=1, validation_split=0.2, seed=1, by_score=True)
    assert other.scale < one.scale
