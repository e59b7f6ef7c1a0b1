"""The speed of a worker under load, measured at the start and then every hour, in all of its slots.

A busy slot measures when its game has ended, while other slots play.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from statistics import fmean
from typing import TYPE_CHECKING

from arena.log import logger
from referee.machine import speed
from referee.rules import families

if TYPE_CHECKING:
    from arena.cluster.jobs import Jobs
    from arena.cluster.worker import ClusterWorker

MEASURE_INTERVAL_S = 3600.0


class SpeedMeter:
    """The measured speed of a worker's slots. `run` measures it, as a task."""

    def __init__(self, jobs: Jobs, name: str) -> None:
        self._jobs, self._name = jobs, name
        self.leaves = 0
        """Perft leaves per second of one slot (see `referee.machine.speed`), mean of all slots; 0 until measured."""
        self._log = logger("worker")

    async def run(self, interval_s: float = MEASURE_INTERVAL_S) -> None:
        """Measure periodically until cancelled."""
        while True:
            await self.measure()
            await asyncio.sleep(interval_s)

    async def measure(self) -> None:
        """Measure once in every slot. Failures are logged; if all slots fail, the last value is kept."""
        waiting = [asyncio.wrap_future(self._jobs.submit(speed.measure)) for _ in range(self._jobs.slots)]
        answers = await asyncio.gather(*waiting, return_exceptions=True)
        measured = [answer for answer in answers if not isinstance(answer, BaseException)]
        for error in {str(answer) for answer in answers if isinstance(answer, BaseException)}:
            self._log.error("speed measurement failed", name=self._name, error=error)
        if measured:
            self.leaves = round(fmean(measured))
            self._log.info("speed", name=self._name, slots=len(measured), leaves_per_second=self.leaves)


@contextlib.asynccontextmanager
async def measuring(worker: ClusterWorker) -> AsyncIterator[None]:
    """Measure the speed of the worker after its first family is compiled; without a warm-up, after a while."""
    task = asyncio.create_task(_measure(worker))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _measure(worker: ClusterWorker) -> None:
    if worker.warm_up:
        await worker.warm_up.wait_for(families()[0], lambda: True)
    else:
        await asyncio.sleep(MEASURE_INTERVAL_S)
    await worker.speed.run()
