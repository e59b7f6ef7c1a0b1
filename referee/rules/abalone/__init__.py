"""Abalone: push six of the opponent's marbles off a hexagon of 61 cells.

The rules are pure functions, described in RULES.md; only the kernel decides legality and results.
"""

from referee.rules.abalone.rules import RULES

__all__ = ["RULES"]
