"""Answers with a line that grows by a byte now and then, and never ends."""

import time

from loop import Bot, write


class Bad(Bot):
    def go(self) -> None:
        write(b"bestmove ")
        while True:
            write(b"b")
            time.sleep(0.005)


Bad().run()
