"""Takes all memory there is, alone or as fast as several processes can."""

import os
import signal
import sys
from typing import Any

from attacker import run

STEP = 2**24
ENOUGH = 2**29
"""Far too much for a bot; this machine has it."""


def attack() -> dict[str, Any]:
    hoard: list[Any] = []
    share = ENOUGH
    if sys.argv[1] == "children":
        for _ in range(3):
            os.fork()
        share //= 8
    while len(hoard) < share // STEP:
        hoard.append(bytearray(b"x" * STEP))
    while True:
        signal.pause()


run(attack)
