"""A bot that gives up at once with little skill, and notes its process in the file it was started with."""

from __future__ import annotations

import os
import sys

from bots.sdk import Bot, Clock, OptionDecl, run
from referee.rules.position import Position

ENOUGH = 5


class Toy(Bot):
    """Wins against whoever has not `ENOUGH` skill."""

    name = "toy"
    options = (OptionDecl("Skill", "spin", "2", 0, 10),)

    def choose(self, position: Position, clock: Clock) -> int:
        """Any move."""
        return position.moves[0]

    def resigns(self, position: Position) -> bool:
        """At once."""
        return self.number("Skill") < ENOUGH


if __name__ == "__main__":
    with open(sys.argv[1], "a", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    run(Toy(), ["--family", "loa"])
