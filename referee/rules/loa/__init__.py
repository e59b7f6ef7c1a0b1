"""Lines of Action and Zen l'initié: gather all own pieces into one connected group.

The rules are pure functions, described in RULES.md; only the kernel decides legality and results.
"""

from referee.rules.loa.rules import RULES

__all__ = ["RULES"]
