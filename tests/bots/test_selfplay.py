"""Games of the search against itself: what `alphabeta` plays with so many nodes, the same for the same seed."""

from __future__ import annotations

import io
import json
import random

import numpy as np
import pytest

from bots.samples.alphabeta import AlphaBeta
from bots.sdk.clock import Clock
from bots.search.repetition import key_of
from bots.training import selfplay
from bots.training.selfplay import SelfPlay
from protocol.messages import Go
from referee.rules import families, load
from referee.rules.history import LineOfPlay
from referee.rules.position import Position


@pytest.mark.parametrize("family", families())
def test_it_plays_what_the_sample_plays(family: str) -> None:
    ruleset = load(family).settle()
    rng, line, position = random.Random(3), LineOfPlay(ruleset), Position.start(ruleset)
    player, bot = SelfPlay(family), AlphaBeta()
    keys = np.zeros(100, np.uint64)
    for ply in range(8):
        keys[ply] = key_of(line.state, ruleset.rules.kernel.KEY_SIZE)
        move = player.choose(line, keys, 150)
        assert move == bot.choose(position, Clock(Go(nodes=150), 0))
        played = move if ply % 2 else rng.choice(position.moves)
        line.push(played)
        position = position.play(played)
        if line.outcome is not None:
            break


def test_tasks_are_answered_line_by_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    task = {"key": "k", "family": "loa", "variant": "standard", "options": {}, "nodes": 20, "plies": 3}
    task |= {"max_plies": 40, "seeds": ["1", "2", "1"]}
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(task) + "\n" + json.dumps({**task, "key": "j"}) + "\n"))
    selfplay.main()
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (first["key"], second["key"]) == ("k", "j")
    assert first["games"] == second["games"]
    assert first["games"][0] == first["games"][2]
    assert all(result in (1, 2, 3) and 3 < plies <= 40 and reason for result, plies, reason in first["games"])


def test_random_plies_leave_the_game_open() -> None:
    ruleset = load("pijersi").settle()
    lines = [selfplay._random_opening(ruleset, 2, str(seed)) for seed in range(12)]
    assert len({tuple(line) for line in lines}) > 8
    for line in lines:
        end = Position.start(ruleset).play_all(line)
        assert end.outcome is None
        assert not any((after := end.play(move).outcome) and after.winner == end.side for move in end.moves)
    assert selfplay._random_opening(ruleset, 0, "x") == []
