"""Writes one line that never ends."""

from loop import Bot, write


class Bad(Bot):
    def go(self) -> None:
        while True:
            write(b"x" * 65_536)


Bad().run()
