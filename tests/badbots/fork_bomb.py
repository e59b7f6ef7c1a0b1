"""Forks without end."""

import os
import signal

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        while True:
            try:
                if not os.fork():
                    break
            except OSError:
                break
        while True:
            signal.pause()


Bad().run()
