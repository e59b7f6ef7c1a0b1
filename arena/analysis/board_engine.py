"""The engine of the analysis board: evaluates positions as soon as visitors reach them.

It has one low-priority process of its own, which takes the processor only while no game needs it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from arena.analysis.engine import Evaluations, PositionRef, evaluate_in_background
from arena.errors import ArenaError
from arena.offload import OffloadProcess
from referee.game.record import GameRecord
from referee.machine.pool import JobError, WorkerLostError

MAX_WAITING = 4
"""Maximum of positions that wait for the engine."""
MAX_PLIES = 1000


class EngineBusyError(ArenaError):
    """The engine is busy with positions of other visitors, or cannot start."""

    kind = "unavailable"


class BoardEngine:
    """The engine's process, which starts with the first position to evaluate. Thread-safe."""

    def __init__(self) -> None:
        self._process = OffloadProcess()
        self._turn = threading.Lock()
        self._room = threading.BoundedSemaphore(MAX_WAITING)

    def evaluate(self, record: GameRecord, spots: Sequence[PositionRef], nodes: int) -> Evaluations:
        """Evaluate positions of a game by the sample engine. Raises EngineBusyError."""
        if not self._room.acquire(blocking=False):
            raise EngineBusyError("the engine of the analysis board is busy", hint="try again in a few seconds")
        try:
            with self._turn:
                return self._process.call(evaluate_in_background, record.line().encode(), spots, nodes, MAX_PLIES)
        except (JobError, WorkerLostError) as error:
            raise EngineBusyError(f"the engine did not evaluate the position: {error}") from None
        finally:
            self._room.release()

    def close(self) -> None:
        """End the process."""
        self._process.interrupt()
        with self._turn:
            self._process.close()
