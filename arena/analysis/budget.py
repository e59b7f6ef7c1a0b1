"""How much an engine may search, in nodes a position: a unit that people set, and its multiples.

The figures are chosen by `tests/bench/analysis.py`: with them nine in ten blunders that a search of every position with
`IN_DOUBT` times the unit finds are found, for less.
"""

from __future__ import annotations

NODES = 10_000
"""The unit, unless somebody says otherwise."""
AT_FIRST, IN_DOUBT, MOST = 8, 100, 8_000_000
"""Every position is searched with so many times the unit, and one in doubt once more with so many, both up to MOST."""
DOUBT = (0.15, 0.5)
"""Whether a move is a blunder is in doubt that seems to lose so much: around the mark."""
ODDS = 0.1
"""Neither is a move sure to be analysed well where the engine's choice looks so much other than the position before it."""
MOST_PLIES = 1_000
"""Longer games are analysed up to here."""


def at_first(nodes: int) -> int:
    """The nodes for any move."""
    return max(nodes, min(AT_FIRST * nodes, MOST))


def in_doubt(nodes: int) -> int:
    """The nodes for a move in doubt."""
    return max(nodes, min(IN_DOUBT * nodes, MOST))
