"""Sends the move of its next turn while the opponent thinks."""

from loop import Bot, say


class Bad(Bot):
    def go(self) -> None:
        say(f"bestmove {self.move}")
        say("bestmove d1a4")


Bad().run()
