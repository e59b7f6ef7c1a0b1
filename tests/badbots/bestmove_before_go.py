"""Moves without being asked."""

from loop import Bot, say


class Bad(Bot):
    def isready(self) -> None:
        say("readyok", "bestmove b1b3")


Bad().run()
