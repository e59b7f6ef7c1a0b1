"""A bot that plays random legal moves: the weakest opponent, and a test of the referee.

Its random numbers depend only on the line of play and the option `Seed`, so a tournament of such bots has the same
results on any machine at any concurrency.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from bots.sdk import Bot, Clock, OptionDecl, run

if TYPE_CHECKING:
    from referee.rules.position import Position

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


SEED = OptionDecl("Seed", "spin", "0", 0, 2**31 - 1)


class RandomMover(Bot):
    """A bot that plays every legal move with the same probability."""

    name = "random"
    author = "the arena"
    options = (SEED,)

    def choose(self, position: Position, clock: Clock) -> int:
        """Return a random legal move; the line of play and `Seed` determine which."""
        return position.moves[draw_below(position, self.number("Seed"), len(position.moves))]


if __name__ == "__main__":
    run(RandomMover())
