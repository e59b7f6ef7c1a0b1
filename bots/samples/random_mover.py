"""A bot that plays random legal moves: the weakest opponent, and a test of the referee.

Its moves depend only on the line of play and the option `Seed`, so a tournament of such bots has the same results at
any concurrency.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bots.samples.seeded_random import draw_below
from bots.sdk import Bot, Clock, OptionDecl, run

if TYPE_CHECKING:
    from referee.rules.position import Position

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
