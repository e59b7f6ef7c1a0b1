"""A slow bot: `patient.py GATE` pauses before every move until the file GATE exists."""

import sys
import time
from pathlib import Path

from bots.samples.random_mover import RandomMover
from bots.sdk import Clock, run
from referee.rules.position import Position

PAUSE_S = 0.15


class Patient(RandomMover):
    """A random bot with pauses."""

    def choose(self, position: Position, clock: Clock) -> int:
        if not GATE.exists():
            time.sleep(PAUSE_S)
        return super().choose(position, clock)


GATE = Path(sys.argv.pop(1))
run(Patient())
