"""Ends, and leaves a child behind that holds its pipes open."""

import os
import signal
import sys

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        if os.fork():
            sys.exit(9)
        while True:
            signal.pause()


Bad().run()
