"""Search budgets: multiples of the number of nodes that a caller chooses.

The factors below come from `tests/bench/analysis.py`. The first pass searches all positions, the second only
borderline ones. So the engine finds nine in ten of the blunders that a second pass over all positions would find, at
lower cost.
"""

from __future__ import annotations

DEFAULT_NODES = 10_000
"""Nodes that the factors multiply, unless the caller sets another number."""
FIRST_PASS_FACTOR, SECOND_PASS_FACTOR, MAX_NODES = 8, 100, 8_000_000
"""Factors of the first pass (all positions) and the second (borderline ones). No search exceeds MAX_NODES."""
BORDERLINE_LOSS = (0.15, 0.5)
"""Losses in this range are borderline and searched again in the second pass."""
MAX_SWING = 0.1
"""A move is also borderline if the engine's choice changes the evaluation by this much."""
MAX_PLIES = 1_000
"""Longer games are analysed up to this ply."""


def first_pass_nodes(nodes: int) -> int:
    """Return how many nodes the first pass searches for each position."""
    return max(nodes, min(FIRST_PASS_FACTOR * nodes, MAX_NODES))


def second_pass_nodes(nodes: int) -> int:
    """Return how many nodes the second pass searches for each position."""
    return max(nodes, min(SECOND_PASS_FACTOR * nodes, MAX_NODES))
