"""Complains for ever."""

import os

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        while True:
            os.write(2, b"help! " * 10_000)


Bad().run()
