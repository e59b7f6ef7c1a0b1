"""Answers when it is told that its time is up."""

from loop import Bot, say


class Bad(Bot):
    def go(self) -> None:
        pass

    def stop(self) -> None:
        say(f"bestmove {self.move}")


Bad().run()
