"""Answers twice."""

from loop import Bot, say


class Bad(Bot):
    def go(self) -> None:
        say(f"bestmove {self.move}", "bestmove e1c3")


Bad().run()
