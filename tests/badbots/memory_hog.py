"""Takes more and more memory, and uses it."""

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        hoard = []
        while True:
            hoard.append(bytearray(b"x" * 2**24))


Bad().run()
