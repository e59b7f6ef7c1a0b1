"""The board: sixty-four squares, a1 in the upper left corner, rows numbered downwards."""

from __future__ import annotations

NAMES = tuple(f"{'abcdefgh'[square % 8]}{square // 8 + 1}" for square in range(64))
NUMBERS = {name: square for square, name in enumerate(NAMES)}
