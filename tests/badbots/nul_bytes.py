"""Puts NUL bytes into its move."""

from loop import Bot, write


class Bad(Bot):
    def go(self) -> None:
        write(b"info string \0\0\0\nbestmove b1\0b3\n")


Bad().run()
