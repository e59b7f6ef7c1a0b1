"""The scheduler of a cluster: Dask's scheduler, configured for the arena, in a separate process.

It only forwards tasks; losing its whole state does no harm.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from distributed import Scheduler

from arena.cluster.wire_config import WORKER_TTL_S, ClusterError, Security, configure


async def serve(
    address: str,
    stop: asyncio.Event,
    *,
    security: Security | None = None,
    dashboard: str | None = None,
    worker_ttl_s: float = WORKER_TTL_S,
    on_start: Callable[[str], None] | None = None,
) -> None:
    """Run a scheduler at `address` (port 0: any free port) until `stop` is set. Raises ClusterError if it cannot listen
    there.

    A worker without a heartbeat for `worker_ttl_s` seconds is lost. `dashboard` is HOST:PORT of Dask's dashboard;
    without it, other machines reach only the scheduler itself.
    """
    configure()
    scheduler = Scheduler(
        host=address,
        security=security,
        worker_ttl=worker_ttl_s,
        dashboard=dashboard is not None,
        dashboard_address=dashboard or "127.0.0.1:0",
    )
    try:
        await scheduler
    except OSError as error:
        raise ClusterError(f"cannot listen at {address}: {error.strerror or error}; choose another --port") from None
    if on_start:
        on_start(scheduler.address)
    ended = asyncio.create_task(scheduler.finished())
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((ended, stopping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(scheduler.close(), 5)
        for task in (ended, stopping):
            task.cancel()
        await asyncio.gather(ended, stopping, return_exceptions=True)
