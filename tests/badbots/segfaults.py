"""Reads where there is nothing to read."""

import ctypes

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        ctypes.string_at(0)


Bad().run()
