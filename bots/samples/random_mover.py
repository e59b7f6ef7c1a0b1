"""A bot that plays any legal move: the opponent everybody must beat, and a test of everything else.

Its moves depend on the line of play and the option `Seed` alone, so a tournament of it comes out the same at any
concurrency.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bots.samples.seeded_random import draw_below
from bots.sdk import Bot, Clock, OptionDecl, run

if TYPE_CHECKING:
    from referee.rules.position import Position

SEED = OptionDecl("Seed", "spin", "0", 0, 2**31 - 1)


class RandomMover(Bot):
    """Every legal move is as likely as any other."""

    name = "random"
    author = "the arena"
    options = (SEED,)

    def choose(self, position: Position, clock: Clock) -> int:
        """A move drawn from the line of play."""
        return position.moves[draw_below(position, self.number("Seed"), len(position.moves))]


if __name__ == "__main__":
    run(RandomMover())
