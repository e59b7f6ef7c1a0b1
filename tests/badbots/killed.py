"""Is killed by a signal while it thinks."""

import os
import signal

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


Bad().run()
