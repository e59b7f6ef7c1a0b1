"""Ignores every signal that can be ignored, `quit`, and the end of its input."""

import signal

from loop import Bot


class Bad(Bot):
    def quit(self) -> None:
        pass


for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)
Bad().run()
while True:
    signal.pause()
