"""`arena worker`: play games of an arena that runs on another machine, without access to its database or broker.

The first SIGTERM or Ctrl-C lets running games finish; the second aborts them.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from arena.cli.source.database import add_settings
from arena.cli.terminal import argument
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.interrupt import heard

if TYPE_CHECKING:
    from arena.cluster.wire_config import Security
    from arena.cluster.worker import ClusterWorker
    from arena.config import Settings

WAIT_TIMEOUT_S = 10.0


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Play games for an arena elsewhere. Anyone who reaches the scheduler's port, or that of this worker, "
        "can run programs here: keep them in a private network, or use tls://."
    )
    parser.add_argument(
        "--scheduler", required=True, metavar="URL", help="dask://HOST:PORT, or tls://HOST:PORT with certificates"
    )
    parser.add_argument(
        "--slots", type=argument.positive, metavar="COUNT", help="play COUNT games at once (default: one per processor)"
    )
    add_settings(parser, "folder for bots and their copies")
    parser.add_argument(
        "--sandbox",
        choices=("auto", "bwrap", "landlock", "rlimits", "none"),
        help="sandbox of the bots: auto, bwrap, landlock, rlimits or none (default auto)",
    )
    parser.add_argument("--name", default="", metavar="NAME", help="name of the worker (default: host and process)")
    parser.add_argument(
        "--no-warm",
        action="store_true",
        help="join before the warm-up: the first game of each family then starts slowly",
    )
    parser.add_argument(
        "--grace", type=float, default=20.0, metavar="SECONDS", help="time for running games to finish at the end"
    )
    parser.add_argument(
        "--wait",
        type=float,
        default=WAIT_TIMEOUT_S,
        metavar="SECONDS",
        help="time to wait for the scheduler at the start",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve the scheduler until SIGTERM or Ctrl-C; connect again whenever it restarts."""
    from arena import log
    from arena.config import read_settings

    settings = read_settings(arguments.config, data=arguments.data, sandbox=arguments.sandbox)
    log.configure(settings.log_format, settings.log_level)
    try:
        from arena.cluster.wire_config import ClusterError, address_of, security_of
        from arena.cluster.worker import ClusterWorker
    except ModuleNotFoundError as error:
        from arena.cli.server.scheduler import missing

        raise missing(error) from None
    try:
        address = address_of(arguments.scheduler)
        security = security_of(settings, address)
    except (ValueError, ClusterError) as error:
        raise CommandError(str(error)) from None
    sandbox = _probe(settings)
    slots = arguments.slots or os.cpu_count() or 1
    worker = ClusterWorker(slots, sandbox=sandbox, folder=settings.data.resolve() / "worker", name=arguments.name)
    try:
        asyncio.run(_work(worker, address, security, arguments))
    finally:
        worker.jobs.close()
    return Exit.DONE


def _probe(settings: Settings) -> str:
    """Return the strongest sandbox that works here. Raises CommandError if it is too weak for uploaded bots."""
    from referee.sandbox import open_sandbox, refusal

    try:
        found = open_sandbox(settings.sandbox)
    except ValueError as error:
        raise CommandError(f"{error}, or give another --sandbox", Exit.REFUSED) from None
    reason = refusal(found, allow_weak=settings.allow_weak_sandbox)
    if reason and not settings.allow_weak_sandbox:
        raise CommandError(f"{reason}; or set allow_weak_sandbox (ARENA_ALLOW_WEAK_SANDBOX=1)", Exit.REFUSED)
    return found.name


async def _work(worker: ClusterWorker, address: str, security: Security | None, arguments: argparse.Namespace) -> None:
    stop = asyncio.Event()
    with heard(stop, worker.jobs.abort):
        warming = _warming(worker, stop, warms_up=not arguments.no_warm)
        async with worker.heartbeat.beating(), warming, _measuring(worker):
            if not stop.is_set():
                wait_s, grace_s = arguments.wait, arguments.grace
                await worker.work(address, stop, security=security, connect_timeout_s=wait_s, grace_s=grace_s)


@asynccontextmanager
async def _measuring(worker: ClusterWorker) -> AsyncIterator[None]:
    """Measure the speed of the worker after its first family is compiled; without a warm-up, after a while."""
    measuring = asyncio.create_task(_measure(worker))
    try:
        yield
    finally:
        measuring.cancel()
        await asyncio.gather(measuring, return_exceptions=True)


async def _measure(worker: ClusterWorker) -> None:
    from arena.cluster.speed import MEASURE_INTERVAL_S
    from referee.rules import families

    if worker.warm_up:
        await worker.warm_up.wait_for(families()[0], lambda: True)
    else:
        await asyncio.sleep(MEASURE_INTERVAL_S)
    await worker.speed.run()


@asynccontextmanager
async def _warming(worker: ClusterWorker, stop: asyncio.Event, *, warms_up: bool) -> AsyncIterator[None]:
    """Compile the families in the background; enter the `with` block once a family is ready or the worker must stop."""
    if not warms_up:
        yield
        return
    from arena.cluster.warm_up import WarmUp
    from referee.rules import families

    worker.warm_up = WarmUp(worker.jobs, families(), worker.name)
    warming = asyncio.create_task(worker.warm_up.run())
    first, stopping = asyncio.create_task(worker.warm_up.first()), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((first, stopping), return_when=asyncio.FIRST_COMPLETED)
        yield
    finally:
        for one in (warming, first, stopping):
            one.cancel()
        await asyncio.gather(warming, first, stopping, return_exceptions=True)
