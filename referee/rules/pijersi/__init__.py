"""Pijersi: rock, paper, scissors and wise cubes on hexagons."""

from referee.rules.pijersi.rules import RULES

__all__ = ["RULES"]
