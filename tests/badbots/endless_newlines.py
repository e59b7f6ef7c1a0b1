"""Writes empty lines for ever."""

from loop import Bot, write


class Bad(Bot):
    def go(self) -> None:
        while True:
            write(b"\n" * 65_536)


Bad().run()
