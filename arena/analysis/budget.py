"""How much a judge may search, in nodes a position."""

from __future__ import annotations

NODES = 20_000
"""Unless somebody says otherwise."""
AGAIN, AGAIN_MOST = 40, 8_000_000
"""A move in doubt is looked at once more, with so many times the nodes, up to so many."""
DOUBT = 0.05
"""A move that seems to lose so much is in doubt, and so is the position behind it."""
ODDS = 0.1
"""Neither is a move sure to be judged well where the judge's choice looks so much other than the position before it."""
MOST_PLIES = 1_000
"""Longer games are analysed up to here."""


def again(nodes: int) -> int:
    """The nodes for a move in doubt."""
    return max(nodes, min(AGAIN * nodes, AGAIN_MOST))
