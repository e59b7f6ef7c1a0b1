"""Puts a process into the background, out of reach of its process group, and plays well."""

import os
import signal

from loop import Bot


class Bad(Bot):
    def ugi(self) -> None:
        if not os.fork():
            os.setsid()
            if os.fork():
                os._exit(0)
            while True:
                signal.pause()
        os.wait()
        super().ugi()


Bad().run()
