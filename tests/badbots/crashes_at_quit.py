"""Falls over when told to leave, which nobody minds."""

import os
import signal

from loop import Bot


class Bad(Bot):
    def quit(self) -> None:
        os.kill(os.getpid(), signal.SIGABRT)


Bad().run()
