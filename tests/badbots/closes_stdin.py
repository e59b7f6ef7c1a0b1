"""Closes its standard input and lives on."""

import os
import signal

from loop import Bot


class Bad(Bot):
    def isready(self) -> None:
        os.close(0)
        super().isready()
        while True:
            signal.pause()


Bad().run()
