"""Takes all memory there is: its own, shared with its children, or as fast as several processes can."""

import mmap
import os
import sys
from typing import Any

from attacker import run

STEP = 2**24


def attack() -> dict[str, Any]:
    hoard: list[Any] = []
    kind = sys.argv[1]
    if kind == "children":
        for _ in range(3):
            os.fork()
    while True:
        if kind == "shared":
            hoard.append(mmap.mmap(-1, STEP))
            hoard[-1].write(b"x" * STEP)
        else:
            hoard.append(bytearray(b"x" * STEP))


run(attack)
