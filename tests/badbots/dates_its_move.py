"""Thinks for longer than its time, and says that it has not: time 0, and a file with a date in the future."""

import contextlib
import os
import tempfile
import time

from loop import Bot, say


class Bad(Bot):
    def go(self) -> None:
        time.sleep(0.36)
        with contextlib.suppress(OSError), tempfile.NamedTemporaryFile() as file:
            os.utime(file.name, (2**32, 2**32))
        say("info time 0 nodes 1")
        say(f"bestmove {self.move}")


Bad().run()
