"""Forgets the end of the line."""

from loop import Bot, write


class Bad(Bot):
    def isready(self) -> None:
        write(b"readyok")


Bad().run()
