"""Plays what looks like a move and is none."""

from loop import Bot, say


class Bad(Bot):
    def go(self) -> None:
        say("bestmove b1b4")


Bad().run()
