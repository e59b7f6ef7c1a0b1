"""Compiles the families of a demo: first of all what the weakest bots need, so that each family is soon played."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from arena.http.request_context import Preparation
from referee.machine.cores import usable_cores
from referee.machine.sample_warmup import have_all_warm, is_warm
from referee.machine.warmup import get_ready

STEPS = (("random", "greedy"), ("alphabeta", "mcts", "champion"))
"""Samples that are compiled together. The rules and the first two take a quarter of the time of a family."""


class Compiling:
    """The compilation of the kernels of families, as many at once as there are processors: step by step, each for all.

    The first step of the first family is alone. Its games are played while the next are compiled.
    """

    def __init__(
        self,
        names: Sequence[str],
        begin: Callable[[str, Sequence[str]], Awaitable[None]],
        preparation: Preparation | None = None,
    ) -> None:
        self._names, self._begin = names, begin
        self._stopped, self._stop = os.pipe()
        self._preparation = preparation or Preparation(len(names))

    async def run(self, stop: asyncio.Event) -> None:
        """Call `begin` with a family and its compiled bots after each step, unless the next one is done already too.

        End early if `stop` is set. Raises CommandError.
        """
        jobs = min(usable_cores(), len(self._names))
        pool = ThreadPoolExecutor(jobs, "compiling")
        group = asyncio.create_task(self._all(pool))
        stopping = asyncio.create_task(stop.wait())
        try:
            either: list[asyncio.Future[Any]] = [group, stopping]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if group.done():
                group.result()
        finally:
            os.write(self._stop, b"\0")
            group.cancel()
            stopping.cancel()
            await asyncio.gather(group, stopping, return_exceptions=True)
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)
            for end in (self._stopped, self._stop):
                os.close(end)

    async def _all(self, pool: ThreadPoolExecutor) -> None:
        (first, *others), (soon, later) = self._names, STEPS
        # Alone: on a busy machine families at once share its time, and the first game comes when all are compiled.
        await self._one(pool, first, soon)
        steps = [*((name, soon) for name in others), *((name, later) for name in self._names)]
        await asyncio.gather(*(self._one(pool, *step) for step in steps))

    async def _one(self, pool: ThreadPoolExecutor, name: str, bots: Sequence[str]) -> None:
        problem, seconds = await asyncio.get_running_loop().run_in_executor(pool, self._make_ready, name, bots)
        if problem:
            raise CommandError(f"the sample bots of {name} cannot be compiled: {problem[-400:]}", Exit.FAILED)
        is_last = bots is STEPS[-1]
        if is_last:
            self._preparation.ready += 1
            self._preparation.compiled.pop(name, None)
        output.note(f"{name:<10} {', '.join(bots)} ready in {seconds:.1f} s")
        if is_last or not is_warm(name, STEPS[-1]):
            await self._begin(name, bots)

    def _make_ready(self, name: str, bots: Sequence[str]) -> tuple[str, float]:
        """Compile bots for a family; return the problem, empty if none, and the seconds it took."""
        began = time.perf_counter()
        self._preparation.now[name] = ""
        problem = have_all_warm(name, self._stopped, partial(self._tell, name), bots)
        get_ready(name)
        self._preparation.now.pop(name, None)
        return problem, time.perf_counter() - began

    def _tell(self, name: str, progress: str) -> None:
        """Print a line for each bot; show the functions being compiled as progress."""
        bot, _, function = progress.partition(" ")
        if not function:
            output.note(f"{name:<10} compiling what {bot} calls ...")
            return
        self._preparation.now[name] = function
        self._preparation.compiled[name] += 1
        under_way = sorted(self._preparation.now.items())
        output.progress("compiling  " + ", ".join(f"{family} {now}" for family, now in under_way if now))
