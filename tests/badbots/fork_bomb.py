"""Forks without end, and gives up where it is not let."""

import os
import signal

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        for _ in range(500):  # far too many, but the machine bears them
            if not os.fork():
                break
        while True:
            signal.pause()


Bad().run()
