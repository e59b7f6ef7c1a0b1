"""Keeps as many processes and threads busy as it can, also while the opponent thinks."""

import os
import threading
from typing import Any

from attacker import run


def burn() -> None:
    while True:
        pass


def attack() -> dict[str, Any]:
    for _ in range(12):
        if not os.fork():
            for _ in range(2):
                threading.Thread(target=burn, daemon=True).start()
            burn()
    return {}


run(attack)
