"""`arena worker`: play games for the scheduler of a cluster."""

from __future__ import annotations

import asyncio
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.server.scheduler import missing
from arena.cli.source.database import GROUP, SettingsArguments
from arena.cli.terminal import argument
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option
from arena.cli.terminal.interrupt import heard
from referee.machine.cores import usable_cores

if TYPE_CHECKING:
    from arena.cluster.wire_config import Security
    from arena.cluster.worker import ClusterWorker
    from arena.config import Settings

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


def run(arguments: WorkerArguments) -> None:
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
    slots = arguments.slots or usable_cores()
    own = ClusterWorker(slots, sandbox=sandbox, folder=settings.data.resolve() / "worker", name=arguments.name)
    try:
        asyncio.run(_work(own, address, security, arguments))
    finally:
        own.jobs.close()


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
    from arena.cluster.warm_up import measuring, warming

    stop = asyncio.Event()
    with heard(stop, worker.jobs.abort):
        warms_up = warming(worker, stop, warms_up=not arguments.no_warm)
        async with worker.heartbeat.beating(), warms_up, measuring(worker):
            if not stop.is_set():
                wait_s, grace_s = arguments.wait, arguments.grace
                await worker.work(address, stop, security=security, connect_timeout_s=wait_s, grace_s=grace_s)
