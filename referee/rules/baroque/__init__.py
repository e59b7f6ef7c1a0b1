"""Baroque chess, also called Ultima: `RULES`."""

from referee.rules.baroque.rules import RULES

__all__ = ["RULES"]
