"""Answers with noise: every byte there is, in no order, and no word of the language."""

import os

from loop import Bot, write


class Bad(Bot):
    def go(self) -> None:
        write(b"\n".join(os.urandom(100) for _ in range(500)) + b"\n")


Bad().run()
