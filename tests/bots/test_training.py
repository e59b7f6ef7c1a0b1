"""The champion's net is fitted: it learns what was planted, and the search sums it up as it was trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bots.search import search
from bots.search.net import BIAS, HEAD, lay_out
from bots.training import Sample, fit, main, present
from referee.rules import load
from referee.rules.loa.state import FIRST, SECOND
from referee.rules.position import Position

RULESET = load("loa").settle()
GAMES, LENGTH = 60, 16


def sample() -> Sample:
    """Positions of random games; whoever has more pieces on the first file wins, whatever they are to the eye."""
    rng = np.random.default_rng(1)
    states, results, games = [], [], []
    for game in range(GAMES):
        position = Position.start(RULESET)
        for _ in range(LENGTH):
            position = position.play(position.moves[rng.integers(len(position.moves))])
            first, second = (int(position.state[element]) & 0x0101010101010101 for element in (FIRST, SECOND))
            lead = first.bit_count() - second.bit_count()
            states.append(position.state)
            results.append(np.sign(lead if position.side == "first" else -lead))
            games.append(game)
    columns = np.array(results, dtype=np.int8)
    return Sample(np.array(states), columns.astype(np.int32) * 100, columns, np.array(games, dtype=np.int64))


def test_it_learns_what_was_planted_and_the_search_agrees() -> None:
    found = fit(RULESET, sample(), trust=0.5, epochs=40, share=0.2, seed=1)
    assert found.after < 0.8 * found.before
    features = RULESET.rules.features
    assert features is not None
    net, s = lay_out(features, found.weights), search("champion", "loa")
    for state in sample().state[:40]:
        sums = np.zeros(net.rows.shape[1], dtype=np.int32)
        s.sum_up(sums, net.rows, net.maps, state)
        here = present(features, state[None])[0]
        assert (sums == found.weights[BIAS] + found.weights[HEAD + 2 :][here].sum(axis=0)).all()


def test_folders_without_positions_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path), "--out", str(tmp_path / "net.npz")])
    assert "schema.json" in capsys.readouterr().err
