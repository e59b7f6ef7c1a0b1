"""Writes one info line a byte longer than is allowed."""

import sys

from loop import Bot, write

LINE = int(sys.argv[1])


class Bad(Bot):
    def go(self) -> None:
        write(b"x" * (LINE + 1) + b"\n")
        super().go()


Bad().run()
