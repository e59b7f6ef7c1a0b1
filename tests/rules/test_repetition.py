"""The history of positions from which repetition is judged."""

from __future__ import annotations

import random

from referee.rules import load
from referee.rules.history import LineOfPlay
from referee.rules.position import History, Position


def test_add_counts_occurrences_and_plies_since_the_previous_one() -> None:
    history = History()
    found = [history.add(key) for key in (b"a", b"b", b"a", b"c", b"d", b"a", b"a")]
    assert found == [(1, 0), (1, 0), (2, 2), (1, 0), (1, 0), (3, 3), (4, 1)]
    assert history.plies == 6


def test_if_next_returns_the_same_as_add_without_adding() -> None:
    history = History([b"a", b"b", b"a"])
    for _ in range(2):
        assert [history.if_next(key) for key in (b"a", b"b", b"c")] == [(3, 1), (2, 2), (1, 0)]
    assert history.add(b"b") == (2, 2)
    assert history.plies == 3


def test_history_of_a_position_excludes_later_positions() -> None:
    rng, position = random.Random(1), Position.start(load("loa").settle())
    line = [position]
    for _ in range(10):
        line.append(line[-1].play(rng.choice(line[-1].moves)))
    assert line[-1].history.plies == 10
    early = line[4]
    assert early.history.plies == 4
    assert early.history.if_next(early.key) == (2, 1)
    assert early.history.if_next(line[3].key) == (2, 2)
    assert early.history.if_next(line[5].key) == (1, 0), "what came later is not its history"


def test_line_of_play_from_a_state_starts_there_and_does_not_change_it() -> None:
    ruleset = load("loa").settle()
    state = ruleset.read("8/2bww3/8/2w5/1b6/8/8/8 w - 57")
    before = state.tobytes()
    line = LineOfPlay(ruleset, state)
    assert line.legal().tolist() == LineOfPlay(ruleset, ruleset.write(state)).legal().tolist()
    line.push(int(line.legal()[0]))
    line.push(int(line.legal()[0]))
    assert state.tobytes() == before == line.start.tobytes()
