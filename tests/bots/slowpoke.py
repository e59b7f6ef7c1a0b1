"""A bot that thinks until it is told to stop: for the tests of clocks, `stop` and the end of the input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bots.sdk import Bot, Clock, OptionDecl, run

if TYPE_CHECKING:
    from referee.rules.position import Position


class Slowpoke(Bot):
    """Plays its last legal move, as late as it may."""

    name = "slowpoke"
    families = ("loa",)
    options = (OptionDecl("Mood", "combo", "calm", values=("calm", "drawish", "gloomy", "deaf", "broken", "wrong")),)

    def warm_up(self, position: Position) -> None:
        """Nothing to load."""

    def choose(self, position: Position, clock: Clock) -> int | str:
        """The last legal move."""
        print("this goes to the log")
        mood = self.value("Mood")
        if mood == "broken":
            raise RuntimeError("a mistake of the author's")
        self.info(depth=1, score=7, text="thinking\nslowly")
        while mood == "deaf" or not clock.should_stop():
            pass
        return "a1a2" if mood == "wrong" else position.texts[-1]

    def offers_draw(self, position: Position, move: int) -> bool:
        """In one mood only."""
        return self.value("Mood") == "drawish"

    def resigns(self, position: Position) -> bool:
        """In another."""
        return self.value("Mood") == "gloomy"

    def game_over(self, winner: str, termination: str) -> None:
        """Say so in the log."""
        sys.stderr.write(f"over: {winner} {termination}\n")


if __name__ == "__main__":
    run(Slowpoke())
