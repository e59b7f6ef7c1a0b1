"""How much a judge may search, in nodes a position."""

from __future__ import annotations

NODES = 20_000
"""Unless somebody says otherwise."""
AGAIN = 8
"""A move in doubt is looked at once more, with so many times the nodes."""
DOUBT = 0.1
"""A move that seems to lose so much is in doubt, and so is the position behind it."""
MOST_PLIES = 1_000
"""Longer games are analysed up to here."""
