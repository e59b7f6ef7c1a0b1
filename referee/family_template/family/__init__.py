"""Template: pawns on nine squares. Change the rules, but keep the names in these files."""

from .rules import RULES

__all__ = ["RULES"]
