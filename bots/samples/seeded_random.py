"""Random numbers that depend only on a seed and the line of play.

The same game draws the same numbers on any machine, whatever else runs there.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.rules.position import Position


def draw_bits(position: Position, seed: int) -> int:
    """Draw 64 bits from the start position, the moves since, and `seed`."""
    codes: list[int] = []
    root = position
    while root.previous is not None:
        codes.append(root.move if root.move is not None else 0)
        root = root.previous
    text = f"{seed} {root} {' '.join(map(str, reversed(codes)))}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def draw_below(position: Position, seed: int, n: int) -> int:
    """Draw a number in 0..n-1 from the inputs of `draw_bits`. The bias, below n / 2**64, is negligible."""
    return draw_bits(position, seed) % n
