"""Closes its standard input and lives on."""

import os
import signal

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        super().go()
        os.close(0)
        while True:
            signal.pause()


Bad().run()
