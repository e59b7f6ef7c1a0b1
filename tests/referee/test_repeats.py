"""How often a position has stood on the board: the same by the book as by walking back, on lines that branch."""

from __future__ import annotations

import random

import pytest

from referee.rules import load
from referee.rules.position import Position


def walked(position: Position) -> tuple[int, int]:
    """The definition: every position before is looked at."""
    count, gap, distance = 1, 0, 0
    earlier = position.previous
    while earlier is not None:
        distance += 1
        if earlier.key == position.key:
            count, gap = count + 1, gap or distance
        earlier = earlier.previous
    return count, gap


@pytest.mark.parametrize("asks_late", [False, True])
def test_repeats_on_branching_lines(asks_late: bool) -> None:
    rng = random.Random(5)
    tree = [Position.start(load("loa").settle())]
    for _ in range(150):
        parent = rng.choice(tree[-5:])
        if parent.moves:
            back = parent.previous.state if parent.previous and rng.random() < 0.3 else None
            child = parent.play(rng.choice(parent.moves))
            if back is not None:  # as if the move had led back: rules rarely repeat by chance
                child = Position(parent.ruleset, back.copy(), parent, child.move)
            tree.append(child)
            if not asks_late:
                assert child.repeats == walked(child)
    for position in rng.sample(tree, len(tree)):
        assert position.repeats == walked(position)
    assert max(position.repeats[0] for position in tree) > 1
