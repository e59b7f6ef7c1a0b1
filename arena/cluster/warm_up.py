"""The start of a worker: its slots compile the kernels of each family, while compiled families are played already.

Then, and every hour, the speed of all slots is measured under load: a busy slot measures when its game has ended, while
other slots play.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from arena.log import logger
from referee.machine import speed
from referee.machine.sample_warmup import warm_with_samples
from referee.machine.warmup import Warmed
from referee.rules import families

if TYPE_CHECKING:
    from arena.cluster.jobs import Jobs
    from arena.cluster.worker import ClusterWorker

if TYPE_CHECKING:
    from arena.cluster.jobs import Jobs
    from arena.cluster.worker import ClusterWorker


POLL_INTERVAL_S = 0.1
"""How often a game that waits for its family checks whether its job was cancelled."""


class WarmUp:
    """The warm-up of a worker, for all of its families.

    Until the first family is ready, every slot compiles a family; after that, a worker with several slots leaves one
    slot for games. A family with waiting games is compiled next. The other slots load a compiled family when they play
    their first game of it.
    """

    def __init__(self, jobs: Jobs, families: Sequence[str], name: str) -> None:
        self._jobs, self._name = jobs, name
        self._left = list(families)
        self._ready = {family: asyncio.Event() for family in families}
        self._log = logger("worker")

    @property
    def _done(self) -> int:
        return sum(event.is_set() for event in self._ready.values())

    async def run(self) -> None:
        """Compile all families, logging the progress; return when all are ready."""
        self._log.info("worker", name=self._name, state="warming", slots=self._jobs.slots, families=len(self._left))
        compiling: dict[asyncio.Future[Warmed], str] = {}
        while self._left or compiling:
            while self._left and len(compiling) < (max(1, self._jobs.slots - 1) if self._done else self._jobs.slots):
                family = self._left.pop(0)
                compiling[asyncio.wrap_future(self._jobs.submit(warm_with_samples, family))] = family
            ended, _ = await asyncio.wait(compiling, return_when=asyncio.FIRST_COMPLETED)
            for future in ended:
                self._end(compiling.pop(future), future)

    def _end(self, family: str, one: asyncio.Future[Warmed]) -> None:
        self._ready[family].set()
        done = f"{self._done}/{len(self._ready)}"
        if error := one.exception():  # its first game will report the cause
            self._log.error("warm-up failed", family=family, done=done, error=str(error))
            return
        found = one.result()
        self._log.info("warm", family=family, done=done, compiled=found.compiled, seconds=found.seconds)

    async def first(self) -> None:
        """Wait until one family is ready."""
        waiting = [asyncio.create_task(event.wait()) for event in self._ready.values()]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waiting:
                one.cancel()

    async def wait_for(self, family: str, is_awaited: Callable[[], bool]) -> bool:
        """Wait until a family is ready; return False as soon as `is_awaited()` is False.

        Families that this worker does not compile count as ready.
        """
        event = self._ready.get(family)
        if event is None:
            return True
        if family in self._left and is_awaited():
            self._left.remove(family)
            self._left.insert(0, family)
        while not event.is_set():
            if not is_awaited():
                return False
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), POLL_INTERVAL_S)
        return True


@contextlib.asynccontextmanager
async def warming(worker: ClusterWorker, stop: asyncio.Event, *, warms_up: bool) -> AsyncIterator[None]:
    """Compile the families in the background; enter the `with` block once a family is ready or the worker must stop."""
    if not warms_up:
        yield
        return
    worker.warm_up = WarmUp(worker.jobs, families(), worker.name)
    compiling = asyncio.create_task(worker.warm_up.run())
    first, stopping = asyncio.create_task(worker.warm_up.first()), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((first, stopping), return_when=asyncio.FIRST_COMPLETED)
        yield
    finally:
        for task in (compiling, first, stopping):
            task.cancel()
        await asyncio.gather(compiling, first, stopping, return_exceptions=True)


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
