"""Says `bestmove` and no move."""

from loop import Bot, say


class Bad(Bot):
    def go(self) -> None:
        say("bestmove")


Bad().run()
