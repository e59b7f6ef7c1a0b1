"""Never stops talking, also while the opponent thinks, and answers when asked; a word is a pause in seconds."""

import os
import sys
import threading
import time

from loop import Bot, say


def chatter() -> None:
    while True:
        os.write(1, b"info string and another thing\n")
        for pause in sys.argv[1:]:
            time.sleep(float(pause))


class Bad(Bot):
    def go(self) -> None:
        say(f"bestmove {self.move}")

    def isready(self) -> None:
        threading.Thread(target=chatter, daemon=True).start()
        say("readyok")

    def quit(self) -> None:
        os._exit(0)


Bad().run()
