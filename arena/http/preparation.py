"""Families whose rules are compiled while the server serves: once after an installation, in a process of its own.

The compiler holds the interpreter's lock, so that no page would be answered meanwhile. What needs the rules of such a
family waits a moment, and then says so. Refuses to know any page.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from multiprocessing.process import BaseProcess

from arena.http.problem import Problem
from arena.log import logger
from referee.rules import load
from referee.warmup import is_cold

PATIENCE_S = 2.0
"""So long a request waits for a family before it is told to come back."""
AGAIN_S = 5
"""In how many seconds it is asked for again; browsers do that by themselves."""
_NICE = 5


class Preparation:
    """`require` is for requests; `begun` frames the time in which families are made ready."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Event] = {}
        self._required: list[str] = []
        """What somebody waits for is made ready first."""

    async def require(self, family: str) -> None:
        """Wait for a family that is being made ready. Raises Problem (503) where that takes longer than a moment."""
        event = self._waiting.get(family)
        if event is None:
            return
        if family not in self._required:
            self._required.append(family)
        with suppress(TimeoutError):
            await asyncio.wait_for(event.wait(), PATIENCE_S)
            return
        raise Problem(
            "unavailable",
            f"the rules of {load(family).title} are being compiled, once after an installation",
            hint="this page asks again by itself; it takes a minute or two in all",
            headers={"Retry-After": str(AGAIN_S), "Refresh": str(AGAIN_S)},
        )

    @asynccontextmanager
    async def begun(self, names: Sequence[str]) -> AsyncIterator[None]:
        """Meanwhile those families are made ready, one after the other, that are not compiled yet."""
        task = asyncio.create_task(self._run(names))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self, names: Sequence[str]) -> None:
        cold = await asyncio.to_thread(lambda: [name for name in names if is_cold(name)])
        self._waiting = {name: asyncio.Event() for name in cold}
        while self._waiting:
            name = next((one for one in self._required if one in self._waiting), next(iter(self._waiting)))
            code = await _compile(name)
            logger("pages").info("rules compiled", family=name, exit=code)
            if code == 0:
                from referee.warmup import get_ready

                await asyncio.to_thread(get_ready, name)
            self._waiting.pop(name).set()


async def _compile(name: str) -> int | None:
    """Have another process compile a family into the cache; its exit code."""
    process = multiprocessing.get_context("spawn").Process(target=_warm, args=(name,), daemon=True)
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    await asyncio.to_thread(process.start)
    loop.add_reader(process.sentinel, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(process.sentinel)
        _end(process)
    return process.exitcode


def _end(process: BaseProcess) -> None:
    process.terminate()
    process.join()


def _warm(name: str) -> None:
    from referee.warmup import warm

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICE)
    warm(name)
