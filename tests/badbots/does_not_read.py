"""Shakes hands, and never reads its input again."""

import signal

from loop import Bot, say


class Bad(Bot):
    def ugi(self) -> None:
        say("id name deaf", "option name Note type string default none", "ugiok")
        while True:
            signal.pause()


Bad().run()
