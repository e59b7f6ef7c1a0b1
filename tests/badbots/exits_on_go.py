"""Ends with exit code 7 when asked for a move."""

import sys

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        sys.exit(7)


Bad().run()
