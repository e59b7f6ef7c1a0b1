"""Plays the null move of other protocols."""

from loop import Bot, say


class Bad(Bot):
    def go(self) -> None:
        say("bestmove 0000")


Bad().run()
