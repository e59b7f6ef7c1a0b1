"""Answers properly, every byte in a write of its own."""

from loop import Bot, write


class Bad(Bot):
    def go(self) -> None:
        for byte in f"info string slow\nbestmove {self.move}\n".encode():
            write(bytes([byte]))


Bad().run()
