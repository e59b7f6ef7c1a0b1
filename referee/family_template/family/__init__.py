"""Template: pawns on nine squares. Change the rules; the names in these files stay."""

from .rules import RULES

__all__ = ["RULES"]
