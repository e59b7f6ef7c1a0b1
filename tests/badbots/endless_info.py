"""Writes info lines for ever, as fast as it can."""

from loop import Bot, write


class Bad(Bot):
    def go(self) -> None:
        while True:
            write(b"info depth 1 score cp 1 nodes 1\n" * 2000)


Bad().run()
