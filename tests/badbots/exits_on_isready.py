"""Ends when asked whether it is ready."""

import sys

from loop import Bot


class Bad(Bot):
    def isready(self) -> None:
        sys.exit(4)


Bad().run()
