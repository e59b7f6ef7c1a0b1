"""Starts threads without end."""

import signal
import threading

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        threading.stack_size(64 * 1024)
        for _ in range(2000):
            threading.Thread(target=signal.pause, daemon=True).start()
        while True:
            signal.pause()


Bad().run()
