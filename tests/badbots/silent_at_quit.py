"""Plays well, and does not leave when told to."""

import signal

from loop import Bot


class Bad(Bot):
    def quit(self) -> None:
        while True:
            signal.pause()


Bad().run()
