"""Answers soon after its time was up."""

import time

from loop import Bot, say


class Bad(Bot):
    def go(self) -> None:
        time.sleep(0.36)
        say(f"bestmove {self.move}")


Bad().run()
