"""Writes info lines of exactly the length that is allowed, and as many bytes as are allowed in one game."""

import sys

from loop import Bot, write

LINE, GAME = int(sys.argv[1]), int(sys.argv[2])


class Bad(Bot):
    def __init__(self) -> None:
        super().__init__()
        self.left = GAME - 2 * len("bestmove b1b3\n") - 200

    def go(self) -> None:
        while self.left > LINE:
            line = b"info string "
            write(line + b"x" * (LINE - len(line)) + b"\n")
            self.left -= LINE + 1
        super().go()


Bad().run()
