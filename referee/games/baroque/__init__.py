"""Baroque chess, also called Ultima: `RULES`."""

from referee.games.baroque.rules import RULES

__all__ = ["RULES"]
