"""Calls itself something else every time it is asked something."""

from loop import Bot, say


class Bad(Bot):
    def isready(self) -> None:
        say("id name somebody", "id family abalone", "readyok")

    def go(self) -> None:
        say("id name somebody else", "ugiok", f"bestmove {self.move}")


Bad().run()
