"""The cluster: `arena scheduler`, to which an arena and its workers connect, and `arena worker`, which plays games."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.source.database import GROUP, SettingsArguments
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option
from arena.cli.terminal.interrupt import heard

if TYPE_CHECKING:
    from arena.cluster.wire_config import Security
    from arena.cluster.worker import ClusterWorker
    from arena.config import Settings


def _ttl(text: str) -> float:
    """Parse seconds, at least five: workers send a heartbeat every second or two."""
    try:
        seconds = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"not a number: {text!r}") from None
    if not 5 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 5 to 86,400")
    return seconds


@dataclass(frozen=True, kw_only=True)
class SchedulerArguments(SettingsArguments):
    bind: str = option("address to listen on (default 127.0.0.1: this machine)", metavar="HOST", default="127.0.0.1")
    port: int | None = option("port to listen on (default 8786, 0 = a free one)", metavar="PORT", type=argument.port)
    tls: bool = option(
        "accept only clients with a certificate of the cluster (settings cluster_ca, cluster_cert, cluster_key)",
        default=False,
    )
    init_tls: Path | None = option(
        "create an authority and certificates for scheduler, referee and worker in a new folder, and exit",
        metavar="DIR",
    )
    worker_ttl: float = option(
        "how long a worker may be silent before its games are played elsewhere (default 10, at least 5)",
        metavar="SECONDS",
        default=10.0,
        type=_ttl,
    )
    dashboard: str | None = option("also serve Dask's dashboard at this address", metavar="HOST:PORT")


def scheduler(arguments: SchedulerArguments) -> int:
    """Run the scheduler until SIGTERM or Ctrl-C; print its address on stdout.

    It may be killed and started again at any time; no result is lost.
    """
    from arena import log

    settings = arguments.read()
    log.configure(settings.log_format, settings.log_level)
    try:
        from arena.cluster.wire_config import PORT, ClusterError, security_of
    except ModuleNotFoundError as error:
        raise missing(error) from None
    if arguments.init_tls:
        return _init_tls(arguments.init_tls)
    port = PORT if arguments.port is None else arguments.port
    host = f"[{arguments.bind}]" if ":" in arguments.bind else arguments.bind
    address = f"{'tls' if arguments.tls else 'tcp'}://{host}:{port}"
    try:
        security = security_of(settings, address)
        asyncio.run(_serve(address, security, arguments.dashboard, arguments.worker_ttl))
    except ClusterError as error:
        raise CommandError(str(error), Exit.FAILED) from None
    return Exit.DONE


def _init_tls(folder: Path) -> int:
    """Create the certificates of a cluster, and print what to do with them."""
    from arena.cluster.certificates import USAGES, create
    from arena.cluster.wire_config import ClusterError

    try:
        create(folder)
    except ClusterError as error:
        raise CommandError(str(error), Exit.FAILED) from None
    output.text(f"{folder}: certificates of {', '.join(USAGES)}, and ca.key, which you should keep elsewhere.")
    output.text("Copy ca.pem and ROLE.pem, ROLE.key to the machines of each role, and set there:")
    output.text(f"  cluster_ca = {str(folder / 'ca.pem')!r}")
    output.text("  cluster_cert = 'ROLE.pem'\n  cluster_key = 'ROLE.key'")
    output.note("Then start `arena scheduler --tls`, and use tls://HOST:8786 for referee and workers.")
    return Exit.DONE


async def _serve(address: str, security: object, dashboard: str | None, worker_ttl_s: float) -> None:
    from arena.cluster.scheduler import serve

    stop = asyncio.Event()

    def tell(listening: str) -> None:
        output.text(listening.replace("tcp://", "dask://"))
        sys.stdout.flush()  # the parent process may be waiting for the address

    with heard(stop):
        await serve(address, stop, security=security, dashboard=dashboard, worker_ttl_s=worker_ttl_s, on_start=tell)


def missing(error: ModuleNotFoundError) -> CommandError:
    """Return the error for a package that the cluster needs and that is not installed."""
    return CommandError(
        f"{error.name} is not installed; install the arena with its extra: pip install 'bot-arena[cluster]'"
    )


WAIT_TIMEOUT_S = 10.0


@dataclass(frozen=True, kw_only=True)
class WorkerArguments(SettingsArguments):
    scheduler: str = option("dask://HOST:PORT, or tls://HOST:PORT with certificates", metavar="URL", default=MISSING)
    slots: int | None = option(
        "play COUNT games at once (default: one per processor)", metavar="COUNT", type=argument.positive
    )
    data: Path | None = option("folder for bots and their copies (default ./data)", metavar="DIR", group=GROUP)
    sandbox: str | None = option(
        "sandbox of the bots: auto, bwrap, landlock, rlimits or none (default auto)", choices=argument.SANDBOXES
    )
    name: str = option("name of the worker (default: host and process)", metavar="NAME", default="")
    no_warm: bool = option("join before the warm-up: the first game of each family then starts slowly", default=False)
    grace: float = option("time for running games to finish at the end", metavar="SECONDS", default=20.0)
    wait: float = option("time to wait for the scheduler at the start", metavar="SECONDS", default=WAIT_TIMEOUT_S)


def worker(arguments: WorkerArguments) -> int:
    """Play games for the scheduler; connect again whenever it restarts.

    The first SIGTERM or Ctrl-C lets running games finish; the second aborts them.
    """
    from arena import log

    settings = arguments.read(sandbox=arguments.sandbox)
    log.configure(settings.log_format, settings.log_level)
    try:
        from arena.cluster.wire_config import ClusterError, address_of, security_of
        from arena.cluster.worker import ClusterWorker
    except ModuleNotFoundError as error:
        raise missing(error) from None
    try:
        address = address_of(arguments.scheduler)
        security = security_of(settings, address)
    except (ValueError, ClusterError) as error:
        raise CommandError(str(error)) from None
    sandbox = _probe(settings)
    slots = arguments.slots or os.cpu_count() or 1
    own = ClusterWorker(slots, sandbox=sandbox, folder=settings.data.resolve() / "worker", name=arguments.name)
    try:
        asyncio.run(_work(own, address, security, arguments))
    finally:
        own.jobs.close()
    return Exit.DONE


def _probe(settings: Settings) -> str:
    """Return the strongest sandbox that works here. Raises CommandError if it is too weak for uploaded bots."""
    from referee.sandbox import open_sandbox, refusal

    try:
        sandbox = open_sandbox(settings.sandbox)
    except ValueError as error:
        raise CommandError(f"{error}, or give another --sandbox", Exit.REFUSED) from None
    reason = refusal(sandbox, allow_weak=settings.allow_weak_sandbox)
    if reason and not settings.allow_weak_sandbox:
        raise CommandError(f"{reason}; or set allow_weak_sandbox (ARENA_ALLOW_WEAK_SANDBOX=1)", Exit.REFUSED)
    return sandbox.name


async def _work(worker: ClusterWorker, address: str, security: Security | None, arguments: WorkerArguments) -> None:
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
        for task in (warming, first, stopping):
            task.cancel()
        await asyncio.gather(warming, first, stopping, return_exceptions=True)
