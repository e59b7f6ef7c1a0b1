"""Processes of `arena.offload` that are kept: starting one, which loads the rules, takes a second of processor time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from arena import offload
from arena.collections import uploaded_text
from arena.offload import OffloadProcess
from referee.machine.pool import SlotPool, WorkerLostError


class Kept:
    """Processes that wait for the next owner; whoever opens one has it alone until it closes it."""

    def __init__(self) -> None:
        self._idle: list[SlotPool] = []
        self._lent: set[int] = set()
        self._lock = threading.Lock()

    def lend(self) -> SlotPool:
        """Return a process, the one that was returned last if any waits."""
        with self._lock:
            pool = self._idle.pop() if self._idle else SlotPool(1)
            self._lent.add(id(pool))
            return pool

    def take_back(self, pool: SlotPool) -> None:
        """Wait for the end of a process's call, and keep it; end it if it is not as it was."""
        with self._lock:
            is_lent = id(pool) in self._lent
            self._lent.discard(id(pool))
        if is_lent:
            with suppress(WorkerLostError, OSError):  # only root can take back what `yield_to_games` gave up
                thread = pool.submit(threading.get_native_id).result()
                os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
                os.setpriority(os.PRIO_PROCESS, thread, 0)
                with self._lock:
                    self._idle.append(pool)
                return
        pool.shutdown()

    def close(self) -> None:
        """End all."""
        for pool in self._idle:
            pool.shutdown()


@contextmanager
def kept_processes() -> Iterator[None]:
    """Let everything that calls functions elsewhere share processes. Only a call with bounds of its own has its own."""
    kept, call_alone, bounded, usual = Kept(), OffloadProcess.call, offload.call_bounded, uploaded_text.BOUNDS

    def call(process: OffloadProcess, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if function is offload._bounded:
            return call_alone(process, function, *args)
        if process._pool is None:
            process._pool = kept.lend()
        return process._pool.submit(function, *args, **kwargs).result()

    def close(process: OffloadProcess) -> None:
        pool, process._pool = process._pool, None
        if pool is not None:
            kept.take_back(pool)

    def call_bounded(bounds: offload.Bounds, function: Callable[..., Any], *args: object) -> Any:
        if bounds is not usual:
            return bounded(bounds, function, *args)
        process = OffloadProcess()
        try:
            return process.call(function, *args)
        finally:
            process.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OffloadProcess, "call", call)
        patch.setattr(OffloadProcess, "close", close)
        patch.setattr(uploaded_text, "call_bounded", call_bounded)
        yield
    kept.close()
