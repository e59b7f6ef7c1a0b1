"""Answers with a move of another game."""

from loop import Bot, say


class Bad(Bot):
    def go(self) -> None:
        say("bestmove a4b5c4")


Bad().run()
