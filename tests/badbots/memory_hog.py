"""Takes more and more memory, and uses it."""

import signal

from loop import Bot


class Bad(Bot):
    def go(self) -> None:
        hoard = [bytearray(b"x" * 2**24) for _ in range(40)]  # far too much, but the machine has it
        while hoard:
            signal.pause()


Bad().run()
