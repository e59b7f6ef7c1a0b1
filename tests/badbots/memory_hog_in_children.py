"""Takes memory in several processes, none of them too big by itself."""

import os
import signal
import sys

from loop import Bot

SHARE = int(sys.argv[1])


class Bad(Bot):
    def go(self) -> None:
        for _ in range(4):
            if not os.fork():
                hoard = bytearray(b"x" * SHARE)
                while hoard:
                    signal.pause()
        while True:
            signal.pause()


Bad().run()
