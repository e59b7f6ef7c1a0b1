"""Baroque chess, also called Ultima: every kind of piece captures in its own way, and checkmate wins.

The rules are pure functions, described in RULES.md; only the kernel decides legality and results.
"""

from referee.rules.baroque.rules import RULES

__all__ = ["RULES"]
