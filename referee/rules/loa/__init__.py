"""Lines of Action and Zen l'initié."""

from referee.rules.loa.rules import RULES

__all__ = ["RULES"]
