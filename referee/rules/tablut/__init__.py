"""Tablut: attackers surround the king, defenders lead him to the border.

The rules are pure functions, described in RULES.md; only the kernel decides legality and results.
"""

from referee.rules.tablut.rules import RULES

__all__ = ["RULES"]
