"""Compiles the families of a demo: the first alone, then twice as many at once as there are processors."""

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
from referee.machine.sample_warmup import have_all_warm
from referee.machine.warmup import Warmed, warm

FIRST = ("random", "greedy", "alphabeta")
"""Samples compiled before a family's first game. The code of others is compiled by the first game that needs it."""


class Compiling:
    """The compilation of the kernels of families: the first alone, then twice as many at once as there are processors.

    The games of the first family are played meanwhile, and each bot gets as much time as a compiler.
    """

    def __init__(
        self, names: Sequence[str], begin: Callable[[str], Awaitable[None]], preparation: Preparation | None = None
    ) -> None:
        self._names, self._begin = names, begin
        self._stopped, self._stop = os.pipe()
        self._preparation = preparation or Preparation(len(names))

    async def run(self, stop: asyncio.Event) -> None:
        """Call `begin` with each family as soon as it is compiled; end early if `stop` is set. Raises CommandError."""
        jobs = min(2 * usable_cores(), len(self._names))
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
        first, *others = self._names
        # Alone: on a busy machine families at once share its time, and the first game comes when all are compiled.
        await self._one(pool, first)
        await asyncio.gather(*(self._one(pool, name) for name in others))

    async def _one(self, pool: ThreadPoolExecutor, name: str) -> None:
        problem, warmed, seconds = await asyncio.get_running_loop().run_in_executor(pool, self._make_ready, name)
        if problem:
            raise CommandError(f"the sample bots of {name} cannot be compiled: {problem[-400:]}", Exit.FAILED)
        self._preparation.ready += 1
        output.note(f"{name:<10} ready in {seconds:.1f} s, {warmed.compiled + warmed.cached} kernels")
        await self._begin(name)

    def _make_ready(self, name: str) -> tuple[str, Warmed, float]:
        """Compile a family; return the problem (empty if none), the numbers of kernels, and the seconds it took."""
        began = time.perf_counter()
        self._preparation.now[name] = ""
        problem = have_all_warm(name, self._stopped, partial(self._tell, name), FIRST)
        warmed = warm(name)
        self._preparation.now.pop(name, None)
        return problem, warmed, time.perf_counter() - began

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
