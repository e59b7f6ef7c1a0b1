"""Compiled searches: one module per family, a cache that follows the sources, digests and recurrences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bots.sdk import families
from bots.sdk.game_state import GameState
from bots.search import earlier_keys, search
from bots.search.net import empty_net
from bots.search.repetition import digest, key_of, repetition_count
from referee.rules import load
from referee.rules.core import UnknownNameError
from referee.rules.jit import cache_folder
from referee.rules.per_family import kernel_for
from referee.rules.position import Position


def test_a_search_has_a_module_of_its_own_per_family() -> None:
    loa, tablut = search("alphabeta", "loa"), search("alphabeta", "tablut")
    assert loa is not tablut
    assert loa.legal is not tablut.legal
    assert search("alphabeta", "loa") is loa
    with pytest.raises(UnknownNameError):
        search("alphabeta", "chess")
    with pytest.raises(ImportError, match="needs a family"):
        kernel_for("bots.search.alphabeta")


def test_a_change_of_the_kernel_makes_the_search_stale(tmp_path: Path) -> None:
    folders = []
    for text in ("before", "after"):
        own, kernel = tmp_path / text / "search", tmp_path / text / "game"
        own.mkdir(parents=True)
        kernel.mkdir()
        (own / "search.py").write_text("the same")
        (kernel / "kernel.py").write_text(text)
        folders.append(cache_folder(str(own), str(kernel)))
    assert folders[0] != folders[1]
    assert folders[0].name.startswith("search-game-")


def test_recurrence_counts_and_measures() -> None:
    line = np.array([5, 1, 6, 2, 5, 3, 7, 4, 5], dtype=np.uint64)
    assert repetition_count(line, 8) == (3, 4)
    assert repetition_count(line, 4) == (2, 4)
    assert repetition_count(line, 6) == (1, 0)
    assert repetition_count(line, 0) == (1, 0)


@pytest.mark.parametrize("family", families())
def test_digests_tell_positions_apart_as_their_keys_do(family: str) -> None:
    position = GameState(family).start()
    key_size = position.ruleset.rules.kernel.KEY_SIZE
    keys: dict[int, bytes] = {}
    for move in position.moves:
        after = position.play(move)
        for reply in after.moves[:20]:
            state = after.play(reply).state
            key = state[:key_size].tobytes()
            assert keys.setdefault(int(key_of(state, key_size)), key) == key
    assert len(keys) == len(set(keys.values())) > 300
    again = position.play(position.moves[0])
    assert earlier_keys(again).tolist() == [int(key_of(position.state, key_size))]


def test_a_digest_depends_on_its_part_alone() -> None:
    state = np.arange(10, dtype=np.int64)
    other = state.copy()
    other[9] = 77
    assert digest(state, 0, 9, np.uint64(0)) == digest(other, 0, 9, np.uint64(0))
    assert digest(state, 0, 10, np.uint64(0)) != digest(other, 0, 10, np.uint64(0))
    assert digest(state, 0, 9, np.uint64(1)) != digest(other, 0, 9, np.uint64(0))


def test_the_line_expected_is_played_by_the_rules_and_begins_with_the_best_move() -> None:
    module, position = search("alphabeta", "loa"), Position.start(load("loa").settle())
    search_state = module.new_search_state(1 << 20, empty_net(None))
    search_state.work[module.GENERATION], search_state.work[module.NODE_LIMIT] = 1, 20_000
    module.start_search(search_state, np.array([], dtype=np.uint64), position.state, 0, position.moves[0])
    lines = []
    for depth in (1, 2, 3):
        module.search_iteration(search_state, position.ruleset.config, depth)
        line = module.principal_variation(search_state, position.ruleset.config, depth)
        assert line[0] == search_state.work[module.BEST_MOVE]
        at = position
        for code in line:
            at = at.play(code)  # raises for a move that is not legal
        lines.append(len(line))
    assert lines[0] == 1
    assert lines[2] >= 2
