"""Talks for ever at a pace that no bound of output stops, and never answers."""

import time

from loop import Bot, say


class Bad(Bot):
    def go(self) -> None:
        while True:
            say("info depth 1 score cp 1")
            time.sleep(0.001)


Bad().run()
