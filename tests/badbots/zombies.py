"""Starts processes and never asks what became of them."""

import os

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        for _ in range(5):
            if not os.fork():
                os._exit(0)
        super().go()


Bad().run()
