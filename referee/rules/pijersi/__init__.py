"""Pijersi: rock, paper, scissors and wise cubes on 45 hexagons; reach the far row.

The rules are pure functions, described in RULES.md; only the kernel decides legality and results.
"""

from referee.rules.pijersi.rules import RULES

__all__ = ["RULES"]
