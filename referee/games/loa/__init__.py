"""Lines of Action and Zen l'initié."""

from referee.games.loa.rules import RULES

__all__ = ["RULES"]
