"""Perft: the number of leaves of the move tree, counted with a family's kernel."""

from __future__ import annotations

from referee.rules.per_family import loaded
from referee.rules.rules import Ruleset, State


def perft(ruleset: Ruleset, state: State, depth: int) -> int:
    """Return the number of leaves at exactly `depth` plies. Finished positions have no children; limits are ignored."""
    if depth == 0:
        return 1
    return int(loaded("referee.rules", "leaves", ruleset.rules.family).leaves(state, ruleset.config, depth))
